"""The bugs put back in, one table a system."""
