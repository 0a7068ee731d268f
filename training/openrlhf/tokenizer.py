"""The tokenizer of a model as its ``tokenizer.json`` says, in place of what OpenRLHF loads.

``AutoTokenizer`` goes by the kind of model and may split text otherwise: a run would then save a tokenizer, or imitate
in tokens, that its model has never seen.
"""

from __future__ import annotations

from transformers import PreTrainedModel, PreTrainedTokenizerFast

from training.common.tokenizer import load_tokenizer


def get_tokenizer(
    pretrain: str,
    model: PreTrainedModel | None,
    padding_side: str = "left",
    strategy: object = None,
    use_fast: bool = True,
) -> PreTrainedTokenizerFast:
    """Stands for OpenRLHF's function of that name; see there for the arguments."""
    del strategy, use_fast
    tokenizer = load_tokenizer(pretrain)
    tokenizer.padding_side = padding_side
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    if model is not None:
        model.config.pad_token_id = tokenizer.pad_token_id
    return tokenizer
