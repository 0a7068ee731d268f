"""The seams of OpenRLHF: every name in its modules that takes a part of ours, and the classes behind its Ray actors.

OpenRLHF offers no plug-in for these parts. Names are therefore rebound before its entry points use them. A release
that renames one is refused here, by the name that is missing. Nothing of OpenRLHF is copied.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from importlib.metadata import version
from operator import attrgetter
from types import MappingProxyType

from proof_r1_formal import ProofR1Error

WRITTEN_FOR = "0.11.2"
"""The release that the seams are those of."""

SEAMS: Mapping[str, str] = MappingProxyType(
    {
        "openrlhf.trainer.ppo_trainer.PPOTrainer": "controls a run; a Ray actor",
        "openrlhf.trainer.ppo_trainer.get_tokenizer": "loads the tokenizer in the controller",
        "openrlhf.trainer.ray.ppo_actor.PolicyModelActor": "the process of the policy; a Ray actor",
        "openrlhf.trainer.ray.ppo_actor.ActorPPOTrainer": "updates the weights",
        "openrlhf.trainer.ray.ppo_actor.iter_grad_accum_global_norm": "weighs micro-batches",
        "openrlhf.trainer.ray.ppo_actor.DataLoader": "orders the experiences",
        "openrlhf.trainer.ray.ppo_actor.get_tokenizer": "loads the tokenizer with the policy",
        "openrlhf.trainer.ray.vllm_engine.RolloutRayActor": "samples and verifies; a Ray actor",
        "openrlhf.utils.get_strategy": "sets DeepSpeed up",
        "openrlhf.utils.get_tokenizer": "loads the tokenizer during imitation",
        "openrlhf.utils.distributed_util.stateless_init_process_group": "connects a policy and its engines on CPUs",
    }
)
"""Each seam, and what it is for."""


class SeamError(ProofR1Error):
    """The installed OpenRLHF lacks a seam."""


def rebind(seam: str, part: object) -> None:
    """Put a part of ours into OpenRLHF.

    Args:
        seam: a key of ``SEAMS``.
        part: what the name stands for from now on.

    Raises:
        SeamError: OpenRLHF has no such name.
    """
    assert seam in SEAMS
    module, _, name = seam.rpartition(".")
    original(seam)
    setattr(import_module(module), name, part)


def original(seam: str) -> object:
    """What a seam stands for now.

    Raises:
        SeamError: OpenRLHF has no such name.
    """
    module, _, name = seam.rpartition(".")
    try:
        return getattr(import_module(module), name)
    except (ImportError, AttributeError) as error:
        if isinstance(error, ImportError) and not (error.name or "").startswith("openrlhf"):
            raise  # OpenRLHF itself lacks something
        raise SeamError(f"OpenRLHF {version('openrlhf')} has no {seam}; install openrlhf=={WRITTEN_FOR}") from error


def class_behind(seam: str) -> type:
    """The class that OpenRLHF gave to ``ray.remote``: what is decorated cannot be subclassed.

    Raises:
        SeamError: OpenRLHF has no such name, or Ray keeps the class elsewhere.
    """
    actor = original(seam)
    try:
        plain: type = _BEHIND_AN_ACTOR(actor)
    except AttributeError as error:
        raise SeamError(f"{seam} is not an actor as Ray {version('ray')} makes them: {error}") from error
    return plain


_BEHIND_AN_ACTOR = attrgetter("__ray_metadata__.modified_class.__ray_actor_class__")
