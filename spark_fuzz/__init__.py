"""Campaigns on Spark: the cases of `driver`, over as many machines as there are, with the same digest as on one."""
