"""The template of the page and its style sheet."""
