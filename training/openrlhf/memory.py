"""The least memory that a GPU needs at the peak of an update with OpenRLHF, from the shape of the model alone.

In: a configuration whose model's folder is on this machine. Out: bytes, by what they hold. The engine sleeps during
updates. Sequences have the longest length that the configuration allows. The logits of a micro-batch are there in
bfloat16 and in float32, with the gradient of the latter: a prompt and a response of 8,192 tokens in all and 152,000
words make 12 GB for each completion.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from training.common.sizes import shape, sizes
from training.config import Config, ConfigError

BLOCK = 34
"""Bytes of the activations of a block, by token and width, in 16-bit arithmetic without attention scores (Korthikanti
et al. 2022, "Reducing Activation Recomputation in Large Transformer Models", equation 1)."""
LOGIT = 2 + 4 + 4
GRADIENT = 2
"""Bytes of a trained weight's gradient; ranks divide them among themselves, as they do the next."""
STATE = GRADIENT + 3 * 4
"""The same with a copy in float32 and two averages, which ``ds.adam_offload`` keeps elsewhere."""


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes on each GPU.

    Attributes:
        weights: of the policy and of the reference policy, in bfloat16.
        states: of gradients and optimiser.
        activations: of the transformer's blocks.
        logits: of a micro-batch.
    """

    weights: float
    states: float
    activations: float
    logits: float

    @property
    def total(self) -> float:
        """All of it."""
        return self.weights + self.states + self.activations + self.logits

    def lines(self) -> Iterator[str]:
        """For people."""
        for name in self.__slots__:
            yield f"{name}: {getattr(self, name) / 2**30:.1f} GiB"
        yield f"at least {self.total / 2**30:.1f} GiB on each GPU, activations of kernels and buffers not counted"


def memory(config: Config) -> Memory | None:
    """The memory of an update; None if the model is not on this machine.

    Args:
        config: of the run.
    """
    name = config.model.path
    model = None if name is None else shape(name)
    if name is None or model is None:
        return None
    text = model.get_text_config()
    parameters, _, trained = sizes(config, name)
    tokens = config.batch.micro * (config.rollout.max_prompt_tokens + config.rollout.max_response_tokens)
    width, blocks = text.hidden_size, text.num_hidden_layers
    kept = 2 * blocks + BLOCK if config.model.gradient_checkpointing else BLOCK * blocks
    flags, ranks = config.cluster.flags, config.cluster.ranks
    return Memory(
        weights=2.0
        * parameters
        * (1 if config.method == "sft" else 2)
        / (ranks if flags.get("ds.zero_stage") == 3 else 1),
        states=(GRADIENT if flags.get("ds.adam_offload") else STATE) * trained / ranks,
        activations=float(tokens * width * kept),
        logits=float(tokens * text.vocab_size * LOGIT),
    )


def check_memory(config: Config) -> Memory | None:
    """The memory of an update; None if the model is not on this machine.

    Raises:
        ConfigError: a GPU has less.
    """
    found, limit = memory(config), config.cluster.gpu_memory
    if found is not None and found.total > limit * 2**30:
        raise ConfigError(
            "batch.micro",
            f"an update takes at least {found.total / 2**30:.1f} GiB, and cluster.gpu_memory is {limit:g}: "
            f"{', '.join(list(found.lines())[:-1])}; lower batch.micro or rollout.max_response_tokens",
        )
    return found
