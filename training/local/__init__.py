"""The local engine: rollouts, verification, credit and updates in one process, on a CPU or one GPU.

``trainer`` is the loop; it samples (``sampling``), has completions verified by other processes meanwhile
(``verification``), credits them (``training.methods``), updates the weights (``update``), scores (``evaluation``), keeps
checkpoints (``checkpoint``) and says what happened (``logs``). ``imitation`` is the same loop for demonstrations.

Everything random in a step is drawn from the seed and the step's number, so there is no random state to keep, and a run
that goes on from a checkpoint draws what it would have drawn.
"""
