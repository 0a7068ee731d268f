"""The local engine: rollouts, verification, credit and updates in one process, on a CPU or one GPU.

``trainer`` is the loop. ``reinforcement`` makes a step of it: it samples (``sampling``), has completions verified by
other processes meanwhile (``common.verification``), credits them (``credit.methods``) and updates the weights
(``update``). ``imitation`` makes one of demonstrations. ``evaluation`` scores, and ``checkpoint`` stores the state of a
run.

Everything random in a step is drawn from the seed and the step's number (``chance``), so there is no random state to
keep, and a run that resumes from a checkpoint draws what it would have drawn.
"""
