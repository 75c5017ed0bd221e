"""The designs that the proposals replace, to compare with."""
