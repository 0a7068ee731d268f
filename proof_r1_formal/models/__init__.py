"""Asking models: prompts, endpoints and local models, samples, baseline agents, repair."""
