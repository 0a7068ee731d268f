"""Verdicts and closure to advantages of actions and of tokens. No module here needs PyTorch."""
