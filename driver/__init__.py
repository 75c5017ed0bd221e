"""The seeded driver: cases from a seed, runs under laws and model, shrinking, supervision, campaigns."""
