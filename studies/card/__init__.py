"""What ``studies.gpu`` runs on a card: one module for each trainer, the parity of losses, and their settings."""
