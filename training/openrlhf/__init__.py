"""The engine ``openrlhf``: the same algorithm on OpenRLHF 0.11.2, Ray, DeepSpeed and vLLM, through thin adapters.

``reinforcement`` and ``imitation`` put them together and hand over to OpenRLHF's own entry points. ``flags`` translates
the configuration; ``memory`` refuses what no GPU holds; ``data`` writes what is asked, and the model to start from;
``agent`` verifies completions beside the engine that sampled them; ``experience`` credits their tokens; ``controller``
writes the log and completes checkpoints; ``actor`` has the loss and sends weights to the engines; ``strategy`` sets
DeepSpeed up; ``seams`` lists the names of OpenRLHF that all of these replace; ``cpu`` makes it run without a GPU;
``job`` hands a run to a Ray cluster.
"""
