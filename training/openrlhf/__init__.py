"""Credit per action in OpenRLHF 0.11.2 on Ray: ``python -m training.openrlhf --config FILE``, alone or as a Ray job.

``__main__`` reads the configuration, refuses settings under which OpenRLHF's loss is not that of the method, and starts
OpenRLHF's own entry point. ``agent`` verifies completions next to the engine that sampled them; ``task`` is the label
that it gets. ``controller`` gives OpenRLHF the advantages of tokens, logs what the verifier says, and puts the averages
of the rules into checkpoints.
"""
