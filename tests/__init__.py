"""Tests of all of it."""
