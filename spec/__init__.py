"""What must hold: each system as config, commands, model and laws. Imports attrs and nothing of ours."""
