"""An evaluation of Inspect: problems as samples, the verifier as scorer, the rates of steps as metrics.

``inspect eval proof_r1_formal/proof -T problems=FILE`` runs it. A sample is a problem with the messages that ask for a
proof. Its score has the answer's verdicts as values and the findings as explanation.
``python -m proof_r1_formal.integrations.inspect LOG… > completions.jsonl`` writes the answers of logs as completions,
for the commands of this package. Importing this module requires ``inspect_ai``.
"""

from __future__ import annotations

import argparse
import logging
import math
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Literal, TypeAlias, get_args

import anyio.to_thread
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import HeadlineMetric, read_eval_log_samples
from inspect_ai.model import ChatMessageUser, get_model
from inspect_ai.model._generate_config import active_generate_config  # the only way to what --extra-body gave
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, Value, mean, metric, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver

from proof_r1_formal.data.completions import Completion, Cost, encode
from proof_r1_formal.data.native import to_json
from proof_r1_formal.data.problem import Problem
from proof_r1_formal.decoding.grammar import completion_grammar
from proof_r1_formal.errors import ProofR1Error
from proof_r1_formal.evaluation.estimates import estimates
from proof_r1_formal.evaluation.measures import Exclusion, Measure, Part
from proof_r1_formal.evaluation.outcomes import output_row, reference_length
from proof_r1_formal.integrations.evaluations import require_one_of, shared_verifier, usable_problems
from proof_r1_formal.integrations.inspect_agents import CALLS, chat_of, graph_of_verification, logic_agent
from proof_r1_formal.integrations.inspect_json import prove_as_json
from proof_r1_formal.integrations.inspect_review import review, reviewer
from proof_r1_formal.integrations.scoring import problem_of
from proof_r1_formal.models.prompts import PromptSet, messages
from proof_r1_formal.models.repair import complaint, needs_repair
from proof_r1_formal.proof.report import TraceReport
from proof_r1_formal.proof.trajectory import Thinking
from proof_r1_formal.rules.catalogue import RuleSystem, catalogue

__all__ = [
    "completions",
    "graph_of_verification",
    "logic_agent",
    "proof",
    "prove",
    "prove_as_json",
    "rates",
    "review",
    "reviewer",
    "verifier",
]
# Inspect finds all of these by name: it imports this module.

LOG = logging.getLogger(__name__)

Parts: TypeAlias = dict[str, Part]
"""The contribution of a sample to the sums of scores, by the score's name."""

VALUES = {"right": Measure.AVG, "verified": Measure.VERIFIED, "rule_verified": Measure.RULE_VERIFIED}
"""The values of a score: 1 or 0 each. The last two are 1 only for right answers."""
RATES = (Measure.FVR, Measure.STRICT_FVR, Measure.RVR, Measure.STRICT_RVR, Measure.PARSED, Measure.RGD)
"""The scores that no mean over samples gives, or that concern all outputs."""
UNCERTAIN = "Uncertain right"
"""The share of right answers where the label is Uncertain; these samples are in no other score."""

Server: TypeAlias = Literal["vllm", "llama.cpp", "sglang"]
"""A program that serves models and holds their answers to a grammar in GBNF."""
_GRAMMAR_FIELDS: Mapping[Server, Callable[[str], Mapping[str, object]]] = {
    "vllm": lambda grammar: {"structured_outputs": {"grammar": grammar}},
    "llama.cpp": lambda grammar: {"grammar": grammar},
    "sglang": lambda grammar: {"ebnf": grammar},
}
"""The fields of a request that has a grammar."""


@task
def proof(
    problems: str,
    rules: RuleSystem = "train",
    prompts: PromptSet = "default",
    thinking: Thinking = "explicit",
    strict: bool = False,
    turns: int = 1,
    constrain: Server | None = None,
) -> Task:
    """Prove the right option of each problem.

    Args:
        problems: the file, in any format of ``read_problems``.
        rules: name of the rule catalogue.
        prompts, thinking: see :func:`~proof_r1_formal.models.prompts.messages`.
        strict: whether a problem that cannot be used is an error; otherwise a warning counts and names it.
        turns, constrain: see :func:`prove`.

    Raises:
        ProofR1Error: the file or a problem cannot be used, or an argument has an unknown value.
    """
    require_one_of(get_args(PromptSet), prompts=prompts)
    require_one_of(get_args(Thinking), thinking=thinking)
    if constrain is not None:
        require_one_of(get_args(Server), constrain=constrain)
    if turns < 1:
        raise ProofR1Error(f"turns={turns}: a model answers at least once")
    found = usable_problems(problems, strict=strict)
    samples = [_sample(problem, rules, prompts, thinking) for problem in found.values()]
    dataset = MemoryDataset(samples, name=Path(problems).stem, location=problems)
    return Task(
        dataset=dataset,
        solver=prove(rules, turns=turns, constrain=constrain),
        scorer=verifier(rules),
        headline_metric=HeadlineMetric(score="right", metric="mean"),
        metadata={"left_out": len(found.rejected)},
    )


def _sample(problem: Problem, rules: RuleSystem, prompts: PromptSet, thinking: Thinking) -> Sample:
    chat = chat_of(messages(problem, rules=catalogue(rules), prompts=prompts, thinking=thinking))
    metadata = {"difficulty": problem.difficulty, "problem": to_json(problem)}
    return Sample(id=problem.id, input=chat, target=problem.answer or "", metadata=metadata)


@solver
def prove(rules: RuleSystem = "train", *, turns: int = 1, constrain: Server | None = None) -> Solver:
    """Ask for a proof, and again while a check fails.

    Args:
        rules: name of the rule catalogue.
        turns: the most answers to a problem. Before each but the first, the model reads the findings on the last one.
            They do not say which option is right.
        constrain: what serves the model, if it is to hold answers to the grammar of the problem. Other fields of the
            request stay as they are.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        problem = problem_of(state.metadata["problem"])
        fields = None
        if constrain is not None:
            grammar = completion_grammar(problem, catalogue(rules)).to_gbnf(thoughts=True)
            given = get_model().config.merge(active_generate_config()).extra_body or {}
            fields = {**given, **_GRAMMAR_FIELDS[constrain](grammar)}
        state = await generate(state, extra_body=fields)
        for _ in range(1, turns):
            report = await anyio.to_thread.run_sync(_verify, rules, problem, state.output.completion, state.epoch - 1)
            if not needs_repair(report):
                break
            state.messages.append(ChatMessageUser(content=complaint(report)))
            state = await generate(state, extra_body=fields)
        return state

    return solve


@metric(scores="unreduced")  # a quotient of sums over all epochs, not a mean of quotients
def rates() -> Metric:
    """The scores ``RATES`` of all samples, as ``proof-r1 evaluate`` computes them; without what is not defined."""

    def compute(scores: list[SampleScore]) -> Value:
        parts = [(score.sample_id, (score.score.metadata or {})["parts"]) for score in scores]
        rows = {
            (str(problem), number): {Measure(name): (part[0], part[1]) for name, part in found.items()}
            for number, (problem, found) in enumerate(parts)
            if UNCERTAIN not in found
        }
        values = {str(name): found.value for name, found in estimates(rows, measures=RATES).items() if found.is_defined}
        right = [found[UNCERTAIN][0] for _, found in parts if UNCERTAIN in found]
        return values | ({UNCERTAIN: sum(right) / len(right)} if right else {})

    return compute


@scorer(metrics=[{name: [mean(), stderr()] for name in VALUES}, rates()])
def verifier(rules: RuleSystem = "train") -> Scorer:
    """Verify the model's last reply.

    A value is NaN, so that Inspect leaves it out of metrics and counts it as unscored, where the problem is in no score
    of ``evaluation.metrics``.
    """

    async def score(state: TaskState, target: Target) -> Score:
        del target  # the problem has the answer
        problem = problem_of(state.metadata["problem"])
        report = await anyio.to_thread.run_sync(_verify, rules, problem, state.output.completion, state.epoch - 1)
        parts, reason = _parts(problem, report)
        return Score(
            value={name: parts[of][0] * 1.0 if of in parts else math.nan for name, of in VALUES.items()},
            answer=report.answer,
            explanation=f"```text\n{report.explain()}\n```",  # the viewer shows Markdown
            reason=reason,
            metadata={"parts": parts, "report": report.to_dict()},
        )

    return score


def _parts(problem: Problem, report: TraceReport) -> tuple[Parts, str | None]:
    """The contribution of a report to scores, and why it is left out of some, or counts as not parsed."""
    if report.consistency == "inconsistent":
        return {}, Exclusion.INCONSISTENT_PREMISES.value
    if problem.is_uncertain:
        return {UNCERTAIN: (report.answer_correct is True, 1)}, Exclusion.UNCERTAIN.value
    row = output_row(report, reference_length(problem), None)
    reason = None if Measure.AVG in row else Exclusion.NO_REFERENCE_ANSWER.value
    if not report.parsed:
        reason = "invalid_response_format"  # Inspect's own word
    return {str(measure): part for measure, part in row.items()}, reason


def _verify(rules: RuleSystem, problem: Problem, completion: str, sample: int) -> TraceReport:
    return shared_verifier(rules).verify(problem, completion, sample=sample)


# -- logs -------------------------------------------------------------------------------------------------------------


def completions(log: Path | str) -> Iterator[Completion]:
    """The answers of a log, whole or not, in its order, each with its cost; warns of samples that failed.

    A sample that failed is left out, unless Inspect scored it: then it is what the model had answered, often nothing.
    """
    for sample in read_eval_log_samples(log, all_samples_required=False, exclude_fields={"events", "store"}):
        number = sample.epoch - 1
        if sample.error is not None:
            LOG.warning("%s: problem %s, sample %d has no answer: %s", log, sample.id, number, sample.error.message)
            if not sample.scores:
                continue
        usage = sample.model_usage.values()
        cost = Cost(
            tokens=sum(one.output_tokens for one in usage),
            prompt_tokens=sum(one.input_tokens for one in usage),
            seconds=sample.working_time,
            calls=sample.metadata.get(CALLS) or sum(message.role == "assistant" for message in sample.messages),
        )
        yield Completion(problem_id=str(sample.id), sample=number, completion=sample.output.completion, cost=cost)


def main() -> None:
    """Write the completions of logs to standard output, a JSON object a line."""
    parser = argparse.ArgumentParser(prog="python -m proof_r1_formal.integrations.inspect")
    parser.add_argument("logs", nargs="+", type=Path, metavar="LOG", help="a log of inspect eval")
    for log in parser.parse_args().logs:
        try:
            for one in completions(log):
                sys.stdout.write(encode(one).decode() + "\n")
        except (OSError, ValueError) as error:
            parser.error(f"{log}: not read as a log of Inspect: {error}")


if __name__ == "__main__":
    main()
