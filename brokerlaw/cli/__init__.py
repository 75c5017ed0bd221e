"""The command line: one module a command; what they share is in `options`, `names`, `terminal` and `answer`."""
