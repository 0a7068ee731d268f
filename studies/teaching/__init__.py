"""Which method learns most from problems, rewards and a prover? ``PLAN.md`` says what was decided before the runs."""
