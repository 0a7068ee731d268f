"""Texts that models read: the messages that ask for a proof, and what is wrong with the proof they wrote."""
