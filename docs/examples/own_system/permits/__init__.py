"""A system of your own: how a broker spends a consumer's flow permits."""
