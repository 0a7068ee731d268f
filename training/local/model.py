"""The policy: loaded from a folder, with the reference policy and its tokenizer.

In: the ``model`` section of a configuration. Out: a :class:`Policy`. With adapters, the reference policy is the same
weights with the adapters turned off; where all weights are trained, it is a frozen copy of them. Nothing is downloaded.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from peft.tuners.lora import LoraLayer
from torch import Tensor
from torch.nn import Parameter
from transformers import AutoModelForCausalLM, PreTrainedModel, PreTrainedTokenizerFast

from proof_r1_formal.credit.pieces import TokenPieces
from proof_r1_formal.models.chat import ModelError
from proof_r1_formal.models.local import not_loaded
from training.common.tokenizer import load_tokenizer
from training.config import Lora, Model
from training.local.forward import positions


@dataclass(frozen=True, slots=True)
class Policy:
    """A model that is trained.

    Attributes:
        model: what an optimiser changes; its adapters, if it has some, are part of it.
        adapted: the same with its adapters around it, or None if all weights are trained.
        frozen: the reference policy where all weights are trained; None if there are adapters, or none is needed.
        tokenizer: of both.
        pieces: what the tokens say.
        device: where everything is.
        dtype: of the forward pass.
        share: whether completions can share the pass through their prompt.
    """

    model: PreTrainedModel
    adapted: PeftModel | None
    frozen: PreTrainedModel | None
    tokenizer: PreTrainedTokenizerFast
    pieces: TokenPieces
    device: torch.device
    dtype: torch.dtype
    share: bool

    def trained(self) -> dict[str, Parameter]:
        """The parameters that are trained, by name."""
        return {name: parameter for name, parameter in self.model.named_parameters() if parameter.requires_grad}

    def stops(self) -> frozenset[int]:
        """The tokens that end a completion."""
        ends = self.model.generation_config.eos_token_id
        listed = ends if isinstance(ends, list) else [ends]
        return frozenset([end for end in (*listed, self.tokenizer.eos_token_id) if isinstance(end, int)])

    def unspoken(self) -> Tensor:
        """True for the outputs of the model that are not tokens: some models have more rows than words."""
        absent = torch.ones(self.model.get_output_embeddings().weight.shape[0], dtype=torch.bool)
        absent[sorted(self.tokenizer.get_vocab().values())] = False
        return absent.to(self.device)

    def precision(self) -> AbstractContextManager[object]:
        """In which a forward pass runs: weights in float32 are used in the policy's type."""
        if self.dtype == torch.float32:
            return nullcontext()
        return torch.autocast(self.device.type, dtype=self.dtype)

    @contextmanager
    def reference(self) -> Iterator[PreTrainedModel]:
        """The policy from which training started."""
        if self.frozen is not None:
            yield self.frozen
        elif self.adapted is not None:
            with self.adapted.disable_adapter():
                yield self.model
        else:
            raise ModelError("the policy was loaded without a reference")


def choose_device(model: Model) -> torch.device:
    """Where the model runs; on a CPU, this sets the number of threads.

    Raises:
        ModelError: a GPU is asked for and there is none.
    """
    if model.device == "cuda" and not torch.cuda.is_available():
        raise ModelError("model.device is cuda, but PyTorch sees no GPU; use model.device=cpu or auto")
    wanted = "cuda" if model.device == "cuda" or (model.device == "auto" and torch.cuda.is_available()) else "cpu"
    if wanted == "cpu" and model.threads is not None:
        torch.set_num_threads(model.threads)
    return torch.device(wanted)


def load_policy(model: Model, path: Path | str, *, reference: bool = True) -> Policy:
    """Load the policy.

    Args:
        model: the configuration.
        path: of the model; that of the configuration, or where a model from scratch was written.
        reference: whether a reference policy is needed.

    Raises:
        ModelError: there is no such model, or it is of a kind that cannot be trained here.
    """
    device = choose_device(model)
    dtype = {"bfloat16": torch.bfloat16, "float32": torch.float32}[model.dtype]
    tokenizer = load_tokenizer(path)
    try:
        # trained weights stay in float32: in bfloat16, steps as small as those of training would be lost
        base: PreTrainedModel = AutoModelForCausalLM.from_pretrained(
            path, dtype=torch.float32 if model.lora is None else dtype, local_files_only=True
        )
    except (OSError, ValueError) as error:
        raise not_loaded("model", path, error) from error
    if model.warm_up is not None:
        base = _merged(base, model.warm_up)
    torch.nn.Module.to(base, device)
    adapted = None
    if model.lora is not None:
        adapted = _with_adapters(base, model.lora)
        assert adapted.get_base_model() is base  # adapters are put into it
    if model.gradient_checkpointing:
        base.gradient_checkpointing_enable({"use_reentrant": False})
    frozen = deepcopy(base).requires_grad_(False) if model.lora is None and reference else None
    base.eval()
    policy = Policy(
        model=base,
        adapted=adapted,
        frozen=frozen,
        tokenizer=tokenizer,
        pieces=TokenPieces(tokenizer.backend_tokenizer.to_str()),
        device=device,
        dtype=dtype,
        share=not model.gradient_checkpointing,
    )
    _check_head(policy)
    return policy


def save_model(policy: Policy, folder: Path) -> None:
    """Write the weights as ``transformers`` or ``peft`` reads them, and the tokenizer."""
    (policy.model if policy.adapted is None else policy.adapted).save_pretrained(str(folder))
    policy.tokenizer.save_pretrained(folder)


def _merged(base: PreTrainedModel, adapter: str) -> PreTrainedModel:
    try:
        merged: PreTrainedModel = PeftModel.from_pretrained(base, adapter, local_files_only=True).merge_and_unload()
    except (OSError, ValueError) as error:
        raise not_loaded("adapter of the warm-up", adapter, error) from error
    return merged


def _with_adapters(base: PreTrainedModel, lora: Lora) -> PeftModel:
    settings = LoraConfig(
        r=lora.rank,
        lora_alpha=lora.alpha,
        lora_dropout=lora.dropout,
        target_modules=list(lora.targets),
        task_type="CAUSAL_LM",
    )
    try:
        adapted = get_peft_model(base, settings)
    except ValueError as error:  # no layer has such a name
        raise ModelError(f"model.lora: {error}") from error
    reached = {name.rpartition(".")[2] for name, layer in base.named_modules() if isinstance(layer, LoraLayer)}
    if skipped := [target for target in lora.targets if target not in reached]:
        linear = {name.rpartition(".")[2] for name, layer in base.named_modules() if isinstance(layer, torch.nn.Linear)}
        there = ", ".join(sorted((reached | linear) - {"base_layer", "default", "lm_head"}))
        raise ModelError(f"model.lora.targets: no layer is named {', '.join(skipped)}; the linear layers are {there}")
    assert isinstance(adapted, PeftModel)
    return adapted


@torch.no_grad()
def _check_head(policy: Policy) -> None:
    """Make sure that the output layer alone makes logits of hidden states: some models scale or cap them after it."""
    ids = torch.arange(4, device=policy.device)[None]
    mask = torch.ones_like(ids)
    with policy.precision():
        whole = policy.model(input_ids=ids, attention_mask=mask, position_ids=positions(mask), use_cache=False).logits
        hidden = policy.model.get_decoder()(
            input_ids=ids, attention_mask=mask, position_ids=positions(mask), use_cache=False
        ).last_hidden_state
        alone = policy.model.get_output_embeddings()(hidden)
    if not torch.allclose(whole.float(), alone.float(), rtol=1e-3, atol=1e-3):
        raise ModelError(f"a {type(policy.model).__name__} changes its logits after the output layer; not known here")
