"""How much of an adapter's update reaches an engine whose weights are bfloat16, if it is merged there.

    python -m studies.adapters MODEL PROBLEMS [RECORD]

A policy learns reference proofs from a base whose weights are bfloat16. An engine gets its weights in one of two ways:
*once*, the base plus the whole update, summed in float32 and rounded once; or *in place*, each step's update added to
the rounded weights of before. For both, over the tokens of other proofs, *share* is how much of the policy's change of
log-probabilities the engine shows (the regression of one on the other; 1 is all of it), and *error* is the length of
the difference to the policy, relative to the policy's change. Full training, which sends float32 sums rounded once, is
measured beside adapters of rank 8.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from proof_r1_formal import Problem, read_problems
from proof_r1_formal.evaluation.tables import Column, Style, Table, to_markdown
from proof_r1_formal.generate import summary
from proof_r1_formal.models.prompts import text_prompt

if TYPE_CHECKING:
    from torch import Tensor

RANK, ROWS, SEED = 8, 4, 0
MEASURED = (1, 4, 16, 64)
"""Steps after which the engine is compared."""


@dataclass(frozen=True, slots=True)
class Arm:
    """What is trained: all weights (rank 0) or adapters, at a rate."""

    rank: int
    rate: float

    @property
    def name(self) -> str:
        """In the table."""
        return f"{f'adapters, rank {self.rank}' if self.rank else 'all weights'}, {self.rate:.0e}"


ARMS = (Arm(0, 5e-6), Arm(RANK, 5e-6), Arm(RANK, 1e-4))
"""The paper's rate, and one that is usual for adapters."""


class Reached(msgspec.Struct, frozen=True):
    """What reached the engine after some steps of an arm.

    Attributes:
        arm, steps: which.
        change: root mean square change of the policy's log-probabilities.
        once, once_error: share and error of the sum that is rounded once.
        place, place_error: those of the weights that are updated in place.
    """

    arm: str
    steps: int
    change: float
    once: float
    once_error: float
    place: float
    place_error: float


def measure(folder: Path, problems: Sequence[Problem]) -> Iterator[Reached]:
    """Train each arm, and compare."""
    import torch
    from transformers import AutoTokenizer

    torch.set_num_threads(1)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    texts = [_ids(tokenizer, one) for one in problems]
    held, training = texts[: ROWS * 4], texts[ROWS * 4 :]
    for arm in ARMS:
        torch.manual_seed(SEED)
        policy, names = _policy(folder, arm)
        base = {name: one.detach().clone() for name, one in _merged(policy, names).items()}
        place = {name: one.clone() for name, one in base.items()}
        engine = _policy(folder, Arm(0, 0.0))[0]
        before, start = base, _scores(engine, base, held)
        optimiser = torch.optim.AdamW([one for one in policy.parameters() if one.requires_grad], lr=arm.rate)
        for step in range(1, MEASURED[-1] + 1):
            row = (step - 1) * ROWS % (len(training) - ROWS)
            for prompt, answer in training[row : row + ROWS]:
                loss = -_log_probs(policy, prompt, answer).mean() / ROWS
                loss.backward()
            optimiser.step()
            optimiser.zero_grad()
            now = _merged(policy, names)
            place = {name: _round(one + now[name] - before[name]) for name, one in place.items()}
            before = now
            if step in MEASURED:
                wanted = _scores(engine, now, held) - start
                once = _scores(engine, {name: _round(one) for name, one in now.items()}, held) - start
                placed = _scores(engine, place, held) - start
                yield Reached(arm.name, step, *_compare(wanted, once, placed))


def _compare(wanted: Tensor, once: Tensor, place: Tensor) -> tuple[float, float, float, float, float]:
    size = wanted.square().sum()
    both = [(float((one * wanted).sum() / size), float((one - wanted).norm() / wanted.norm())) for one in (once, place)]
    return float(wanted.square().mean().sqrt()), *both[0], *both[1]


def _round(weight: Tensor) -> Tensor:
    return weight.bfloat16().float()


def _policy(folder: Path, arm: Arm) -> tuple[Any, dict[str, str]]:
    """A policy with weights of bfloat16, in float32, and for each of them its name in the model without adapters."""
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(folder).float().eval()
    for weight in model.parameters():
        weight.data = _round(weight.data)
    if not arm.rank:
        return model, {name: name for name, _ in model.named_parameters()}
    adapted = get_peft_model(model, LoraConfig(r=arm.rank, lora_alpha=2 * arm.rank, target_modules="all-linear"))
    plain = {
        name: name.removeprefix("base_model.model.").replace(".base_layer", "")
        for name, _ in adapted.named_parameters()
        if ".lora_" not in name
    }
    return adapted, plain


def _merged(policy: Any, names: dict[str, str]) -> dict[str, Tensor]:
    """The weights of the policy without adapters: the base plus what they add, in float32."""
    found = {names[name]: one.detach().clone() for name, one in policy.named_parameters() if name in names}
    for name, module in policy.named_modules():
        if hasattr(module, "get_delta_weight"):
            found[f"{name.removeprefix('base_model.model.')}.weight"] += module.get_delta_weight("default").detach()
    return found


def _ids(tokenizer: Any, problem: Problem) -> tuple[list[int], list[int]]:
    prompt, answer = text_prompt(problem, english=False), summary(problem.proofs[0])
    asked, said = (tokenizer(text, add_special_tokens=False)["input_ids"] for text in (prompt, answer))
    return asked, [*said, tokenizer.eos_token_id]


def _log_probs(model: Any, prompt: Sequence[int], answer: Sequence[int]) -> Tensor:
    import torch

    ids = torch.tensor([[*prompt, *answer]])
    logits: Tensor = model(input_ids=ids).logits[0, len(prompt) - 1 : -1].float()
    return logits.log_softmax(-1).gather(1, ids[0, len(prompt) :, None])[:, 0]


def _scores(engine: Any, weights: dict[str, Tensor], texts: Sequence[tuple[list[int], list[int]]]) -> Tensor:
    """The log-probabilities of all answers with these weights."""
    import torch

    with torch.no_grad():
        for name, weight in engine.named_parameters():
            weight.copy_(weights[name])
        return torch.cat([_log_probs(engine, *one) for one in texts]).double()


def table(found: Sequence[Reached]) -> Table:
    """The record as a table."""
    names = ("trained, rate", "steps", "change of log p", "once: share", "error", "in place: share", "error ")
    columns = tuple([Column(name, Style.TEXT) for name in names])
    rows = [
        (
            one.arm,
            str(one.steps),
            f"{one.change:.1e}",
            *[f"{value:.2f}" for value in (one.once, one.once_error, one.place, one.place_error)],
        )
        for one in found
    ]
    return Table("What reaches an engine in bfloat16", columns, tuple(rows))


def main() -> None:
    """Measure, print the table, and write the record."""
    if len(sys.argv) not in (3, 4):
        raise SystemExit("usage: python -m studies.adapters MODEL PROBLEMS [RECORD]")
    found = list(measure(Path(sys.argv[1]), list(read_problems(Path(sys.argv[2])).values())))
    sys.stdout.write(f"{to_markdown(table(found))}\n")
    for file in sys.argv[3:]:
        Path(file).write_bytes(msgspec.json.encode(found) + b"\n")


if __name__ == "__main__":
    main()
