"""The configuration of a training run, read from YAML: typed and checked. An engine uses each key.

In: a file, and overrides ``key.sub=value`` from the command line. Out: a frozen :class:`Config`. An unknown or repeated
key, or a value of the wrong type or out of range, raises a :class:`ConfigError` with the place. Defaults are the
paper's.

One module, so that all keys of a configuration stand in one place.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from itertools import chain
from math import isfinite
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import msgspec
import yaml

from proof_r1_formal import ProofR1Error
from proof_r1_formal.credit.terms import CreditSettings, Weight

Count: TypeAlias = Annotated[int, msgspec.Meta(ge=1)]
Natural: TypeAlias = Annotated[int, msgspec.Meta(ge=0)]
Rate: TypeAlias = Annotated[float, msgspec.Meta(gt=0.0)]
Portion: TypeAlias = Annotated[float, msgspec.Meta(gt=0.0, le=1.0)]
Text: TypeAlias = Annotated[str, msgspec.Meta(min_length=1)]


class ConfigError(ProofR1Error):
    """A configuration that cannot be used: the file or the override, and what is wrong with it."""

    def __init__(self, source: str, problem: str) -> None:
        self.source = source
        self.problem = problem
        super().__init__(f"{source}: {problem}")

    def __reduce__(self) -> tuple[object, ...]:
        return (ConfigError, (self.source, self.problem))


class _Section(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A part of the configuration."""


# -- the policy -------------------------------------------------------------------------------------------------------


class Lora(_Section, frozen=True):
    """Low-rank adapters in place of training all weights.

    Attributes:
        rank, alpha, dropout: r, α, and the dropout before the adapters.
        targets: names of the linear layers with an adapter.
    """

    rank: Count = 8
    alpha: Count = 16
    dropout: Annotated[float, msgspec.Meta(ge=0.0, lt=1.0)] = 0.0
    targets: Annotated[tuple[Text, ...], msgspec.Meta(min_length=1)] = (
        "q_proj",
        "k_proj",
        "v_proj",
        "o_proj",
        "gate_proj",
        "up_proj",
        "down_proj",
    )


class Scratch(_Section, frozen=True):
    """A small model with random weights and a byte-level tokenizer trained on the prompts, for runs without downloads.

    Attributes:
        vocabulary: maximum number of tokens.
        layers, heads, width, hidden: number of blocks and attention heads, size of embeddings and of the hidden layer
            of a block.
    """

    vocabulary: Annotated[int, msgspec.Meta(ge=300)] = 1024
    layers: Count = 4
    heads: Count = 4
    width: Count = 128
    hidden: Count = 512

    def __post_init__(self) -> None:
        if self.width % (2 * self.heads):
            raise ValueError(f"width {self.width} is not a multiple of twice the number of heads ({self.heads})")


class Model(_Section, frozen=True):
    """The policy.

    Attributes:
        path: folder or name of a pretrained model with its tokenizer; or
        scratch: the model to create.
        warm_up: folder of a LoRA adapter that is merged into the model first; the result is the reference policy.
        lora: the adapters to train; null to train all weights.
        dtype: of the forward pass and of frozen weights; trained weights are float32.
        device: of the model; ``auto`` is a GPU if there is one.
        threads: of PyTorch on a CPU; PyTorch's default if null. More threads than idle cores are slower than one.
        gradient_checkpointing: whether to recompute activations to save memory.
    """

    path: Text | None = None
    scratch: Scratch | None = None
    warm_up: Text | None = None
    lora: Lora | None = msgspec.field(default_factory=Lora)
    dtype: Literal["bfloat16", "float32"] = "bfloat16"
    device: Literal["auto", "cpu", "cuda"] = "auto"
    threads: Count | None = None
    gradient_checkpointing: bool = False

    def __post_init__(self) -> None:
        if (self.path is None) == (self.scratch is None):
            raise ValueError("exactly one of path and scratch must be given")
        if self.warm_up is not None and self.path is None:
            raise ValueError("warm_up is an adapter of a pretrained model; there is no path")


# -- data -------------------------------------------------------------------------------------------------------------


class Data(_Section, frozen=True):
    """The problems. Those with inconsistent premises or without an answer are never trained on.

    Attributes:
        train, evaluation: files of problems, see ``docs/formats.md``.
        demonstrations: files of completions for ``sft``; without any, the problems' reference proofs.
        strict: whether a problem that cannot be used is an error; otherwise it is named and left out.
        checked: whether to leave out (and count) demonstrations that fail a check.
        prompt: ``full`` is the contract and the problem. ``short`` is the problem's formulas only, answered without
            thoughts, for small models trained on this task alone. ``question`` is the problem in English and formulas
            without the contract, answered without thoughts: the warm-up teaches the contract. ``paper`` is ``full``
            with the problem in the format of the paper's user message.
        rules: the rule catalogue of prompts and verifier.
        thinking: whether the prompt asks for ``<think>``, or the model thinks in its own format.
        uncertain: whether to train on problems whose answer is Uncertain; the goal, which binding it
            states, is not entailed there.
        epochs: maximum number of passes over the problems.
    """

    train: Annotated[tuple[Text, ...], msgspec.Meta(min_length=1)]
    evaluation: tuple[Text, ...] = ()
    demonstrations: tuple[Text, ...] = ()
    strict: bool = False
    checked: bool = True
    prompt: Literal["full", "short", "question", "paper"] = "full"
    rules: Literal["train", "folio"] = "train"
    thinking: Literal["explicit", "native"] = "explicit"
    uncertain: bool = False
    epochs: Count = 3


class Rollout(_Section, frozen=True):
    """Sampling.

    Attributes:
        samples: K, completions per problem.
        temperature, top_p: of sampling.
        logprob_temperature: divisor of logits in the loss: the temperature of ``sampling``, as in VERL, or 1.
        max_prompt_tokens: problems with a longer prompt are left out and counted.
        max_response_tokens: length at which completions are truncated.
        retries: number of further attempts in an epoch at a problem without a right rollout.
        parallel: maximum number of completions sampled at once, also in evaluation.
        workers: number of processes that verify.
        timeout: seconds after which the verification of a completion is aborted, as a last resort: verification has its
            own budget of steps.
        constrain: whether a grammar excludes tokens that would break the contract, in rollouts only. Log-probabilities
            stay those of the policy without the grammar.
    """

    samples: Annotated[int, msgspec.Meta(ge=2)] = 8
    temperature: Rate = 0.8
    top_p: Portion = 0.95
    max_prompt_tokens: Count = 4096
    max_response_tokens: Count = 4096
    retries: Natural = 0
    parallel: Count = 64
    workers: Count = 1
    timeout: Rate = 60.0
    constrain: bool = False
    logprob_temperature: Literal["sampling", 1] = "sampling"

    @property
    def learning_temperature(self) -> float:
        """The divisor of logits in the loss."""
        return self.temperature if self.logprob_temperature == "sampling" else 1.0


# -- learning ---------------------------------------------------------------------------------------------------------


class LossSettings(_Section, frozen=True):
    """The constants of the loss.

    Attributes:
        clip_low, clip_high: ε₋ and ε₊.
        dual_clip: c, the bound for negative advantages.
        kl_weight: λ_KL, of the sum over tokens per rollout.
    """

    clip_low: Annotated[float, msgspec.Meta(gt=0.0, lt=1.0)] = 0.20
    clip_high: Rate = 0.28
    dual_clip: Annotated[float, msgspec.Meta(gt=1.0)] = 3.0
    kl_weight: Weight = 0.001


class Batch(_Section, frozen=True):
    """Sizes of batches.

    Attributes:
        problems: per step; under ``sft`` demonstrations.
        mini: problems per update of the weights.
        micro: completions per forward pass; gradients of a mini-batch are accumulated.
        epochs: passes over the rollouts of a step.
    """

    problems: Count = 8
    mini: Count = 8
    micro: Count = 1
    epochs: Count = 2

    def __post_init__(self) -> None:
        if self.problems % self.mini:
            raise ValueError(f"problems ({self.problems}) is not a multiple of mini ({self.mini})")


class Optimiser(_Section, frozen=True):
    """AdamW.

    Attributes:
        steps: maximum number of steps; training ends after them or after ``data.epochs``, whichever is first.
        learning_rate: after the warm-up.
        warm_up_steps: number of steps in which the rate rises from 0.
        decay: of the rate after that.
        betas, weight_decay: as in AdamW.
        max_gradient_norm: limit to which gradients are clipped.
    """

    steps: Count = 1098
    learning_rate: Rate = 5e-6
    warm_up_steps: Natural = 0
    decay: Literal["constant", "linear", "cosine"] = "constant"
    betas: tuple[Portion, Portion] = (0.9, 0.999)
    weight_decay: Weight = 0.0
    max_gradient_norm: Rate = 1.0


class Evaluation(_Section, frozen=True):
    """Scores on ``data.evaluation``.

    Attributes:
        every: steps between evaluations; 0 for one at the end only.
        at_start: whether to evaluate before the first step.
        problems: maximum number of problems, the first ones; all if null.
        samples: completions per problem.
        temperature, top_p: of sampling; temperature 0 takes the most probable token.
        seed: of sampling, the same for every evaluation.
    """

    every: Natural = 100
    at_start: bool = True
    problems: Count | None = None
    samples: Count = 3
    temperature: Weight = 0.8
    top_p: Portion = 0.95
    seed: int = 0


class Checkpoint(_Section, frozen=True):
    """Checkpoints, from which a later run resumes.

    Attributes:
        every: steps between checkpoints; 0 for one at the end only.
        keep: number of the latest ones to keep.
        resume: whether a run resumes from the latest checkpoint in its folder.
    """

    every: Natural = 100
    keep: Count = 2
    resume: bool = True


class Cluster(_Section, frozen=True):
    """The GPUs of the engine ``openrlhf``; the local engine ignores this section.

    Attributes:
        nodes, gpus: machines, and GPUs of each, that have a copy of the policy.
        engines: number of engines that sample.
        tensor_parallel: GPUs of each of them.
        together: whether policy and engines use the same GPUs in turn; otherwise engines have their own.
        gpu_memory: GiB of each GPU; a run whose updates need more is rejected.
        memory: share of it for an engine.
        attention: of the policy.
        packing: whether to concatenate sequences without padding; requires flash attention.
        flags: further flags of OpenRLHF, without dashes, and their values: ``ds.zero_stage: 3``.
    """

    nodes: Count = 1
    gpus: Count = 4
    engines: Count = 4
    tensor_parallel: Count = 1
    together: bool = True
    gpu_memory: Rate = 80.0
    memory: Portion = 0.5
    attention: Literal["flash_attention_2", "sdpa"] = "flash_attention_2"
    packing: bool = True
    flags: dict[str, bool | int | float | str] = {}

    def __post_init__(self) -> None:
        if self.together and self.nodes * self.gpus != self.engines * self.tensor_parallel:
            raise ValueError("policy and engines cannot be together: they are on different numbers of GPUs")
        if self.packing and self.attention != "flash_attention_2":
            raise ValueError("packing needs attention: flash_attention_2")

    @property
    def ranks(self) -> int:
        """Copies of the policy."""
        return self.nodes * self.gpus

    @property
    def devices(self) -> int:
        """The number of GPUs of policy and engines."""
        return self.ranks + (0 if self.together else self.engines * self.tensor_parallel)


class Config(_Section, frozen=True):
    """A training run.

    Attributes:
        method: see ``proof_r1_formal.credit.methods``.
        credit: the name of a preset, or a section with the preset and its constants.
        seed: of all random choices of training.
        output: folder for checkpoints, logs and rollouts.
        tensorboard: whether to write curves for TensorBoard, too.
    """

    method: Literal["sft", "grpo", "prosfi", "expert_iteration", "proof_r1", "no_verification", "no_closure"]
    output: Text
    model: Model
    data: Data
    rollout: Rollout = msgspec.field(default_factory=Rollout)
    credit: CreditSettings = msgspec.field(default_factory=CreditSettings)
    loss: LossSettings = msgspec.field(default_factory=LossSettings)
    batch: Batch = msgspec.field(default_factory=Batch)
    optimiser: Optimiser = msgspec.field(default_factory=Optimiser)
    evaluation: Evaluation = msgspec.field(default_factory=Evaluation)
    checkpoint: Checkpoint = msgspec.field(default_factory=Checkpoint)
    cluster: Cluster = msgspec.field(default_factory=Cluster)
    seed: Natural = 0
    tensorboard: bool = True


# -- reading ----------------------------------------------------------------------------------------------------------


def read_config(path: Path | str, overrides: Sequence[str] = ()) -> Config:
    """Read a configuration.

    Args:
        path: of the YAML file.
        overrides: each ``key=value`` or ``key.sub=value``, the value in YAML; later ones win.

    Raises:
        ConfigError: the file cannot be read, or the file or an override is invalid.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(str(path), f"the file cannot be read: {error}") from error
    tree = _yaml(str(path), text)
    if not isinstance(tree, dict):
        raise ConfigError(str(path), "the file holds no keys")
    _name_preset(tree)
    for override in overrides:
        _apply(tree, override)
        _name_preset(tree)
    source = " ".join([str(path), *overrides])
    try:
        return msgspec.convert(tree, Config)
    except msgspec.ValidationError as error:
        raise ConfigError(source, _readable(str(error))) from error


def with_overrides(config: Config, overrides: Sequence[str]) -> Config:
    """The configuration with some values changed.

    Args:
        config: to change.
        overrides: see :func:`read_config`.

    Raises:
        ConfigError: an override cannot be used.
    """
    tree = msgspec.to_builtins(config)
    for override in overrides:
        _apply(tree, override)
        _name_preset(tree)
    try:
        return msgspec.convert(tree, Config)
    except msgspec.ValidationError as error:
        raise ConfigError(" ".join(overrides), _readable(str(error))) from error


def write_config(config: Config) -> str:
    """The configuration as YAML with every key. Reading it gives an equal configuration."""
    return yaml.safe_dump(msgspec.to_builtins(config), sort_keys=False, allow_unicode=True)


def _apply(tree: dict[str, object], override: str) -> None:
    """Set one value in the tree of a file."""
    key, sign, value = override.partition("=")
    *sections, name = key.strip().split(".")
    if not sign or not name or not all(sections):
        raise ConfigError(override, "an override is key=value or key.sub=value")
    for section in sections:
        inner = tree.setdefault(section, {})
        if inner is None:  # a section that the file leaves out with null
            inner = tree[section] = {}
        if not isinstance(inner, dict):
            raise ConfigError(override, f"{section!r} is a value and holds no keys")
        tree = inner
    tree[name] = _yaml(override, value)


def _name_preset(tree: dict[str, object]) -> None:
    """``credit: hardened`` is short for ``credit: {preset: hardened}``."""
    if isinstance(tree.get("credit"), str):
        tree["credit"] = {"preset": tree["credit"]}


def _readable(message: str) -> str:
    """``… - at `$.credit.epsilon``` without the notation for the root."""
    text = re.sub(r" - at `\$\.?([^`]*)`", lambda place: f", at {place[1] or 'the top'}", message)
    place = message.partition("`$.")[2].rstrip("`")
    choices = _choices(place) if message.startswith(("Invalid enum value", "Object contains unknown field")) else ()
    return f"{text}. Available: {', '.join(choices)}" if choices else text


def _choices(place: str) -> tuple[str, ...]:
    """The values of a key that has few of them, such as ``data.thinking``, or the keys of a section."""
    found = msgspec.inspect.type_info(Config)
    for name in place.split("."):
        of = found.types if isinstance(found, msgspec.inspect.UnionType) else (found,)
        fields = [one.fields for one in of if isinstance(one, msgspec.inspect.StructType)]
        found = next((field.type for field in chain.from_iterable(fields) if field.name == name), found)
    of = found.types if isinstance(found, msgspec.inspect.UnionType) else (found,)
    keys = tuple([field.name for one in of if isinstance(one, msgspec.inspect.StructType) for field in one.fields])
    return tuple(map(str, found.values)) if isinstance(found, msgspec.inspect.LiteralType) else keys


class _Loader(yaml.SafeLoader):
    """YAML in which ``5e-6`` is a number, ``.inf`` is none, and a key can stand only once."""

    def construct_number(self, node: yaml.ScalarNode) -> float:
        number = float(self.construct_yaml_float(node))
        if not isfinite(number):
            raise yaml.constructor.ConstructorError(None, None, f"{node.value} is not a number here", node.start_mark)
        return number

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, object]:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        for key in keys:
            if not isinstance(key, str):
                raise yaml.constructor.ConstructorError(None, None, f"{key!r} is not a key", node.start_mark)
            if keys.count(key) > 1:
                raise yaml.constructor.ConstructorError(None, None, f"key {key!r} is there twice", node.start_mark)
        return super().construct_mapping(node, deep)


_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"[-+]?[0-9][0-9_]*(\.[0-9_]*)?[eE][-+]?[0-9]+$"), list("-+0123456789")
)
_Loader.add_constructor("tag:yaml.org,2002:float", _Loader.construct_number)


def _yaml(source: str, text: str) -> object:
    try:
        return yaml.load(text, Loader=_Loader)
    except yaml.YAMLError as error:
        raise ConfigError(source, f"this is not YAML: {' '.join(str(error).split())}") from error
