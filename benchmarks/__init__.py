"""Benchmarks: the speed of the suite, and the proposals' own claims, measured.  `python -m benchmarks` lists them."""
