"""Evidence: proof terms, and the checker that accepts them (trusted), their JSON and their text."""
