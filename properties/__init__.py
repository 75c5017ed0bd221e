"""Hypothesis state machines over the declarations of the systems."""
