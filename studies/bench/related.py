"""The tests that are related to each module around the trusted ones, for the sample of planted faults.

In: nothing. Out: ``RELATED``, which :mod:`studies.bench.surroundings` runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias

Environment: TypeAlias = Literal["tests", "integrations", "openrlhf"]
PROGRAMS: Mapping[Environment, str] = {
    "tests": "",
    "integrations": ".venv-integrations/bin/python",
    "openrlhf": ".venv-openrlhf/bin/python",
}
"""Name of an environment -> its Python below the folder of the project; the empty path is the running one."""


class Related(NamedTuple):
    """The tests related to a module: arguments of pytest in the order in which they run, and where they run."""

    tests: tuple[str, ...]
    environment: Environment = "tests"


def _in(room: str, names: Mapping[str, Sequence[str]]) -> dict[str, Related]:
    return {f"proof_r1_formal/{room}/{name}.py": Related(tuple(tests)) for name, tests in names.items()}


def _elsewhere(environment: Environment, names: Mapping[str, Sequence[str]]) -> dict[str, Related]:
    return {
        f"proof_r1_formal/integrations/{name}.py": Related(tuple(tests), environment) for name, tests in names.items()
    }


_CREDIT = ("credit/test_settings.py", "credit/test_assigner.py", "credit/test_escapes.py")
_PRESETS = ("credit/test_terms.py", "credit/test_methods.py", "credit/test_reward_hacking.py", *_CREDIT)
_EVALUATION = ("evaluation/test_metrics.py", "evaluation/test_study.py")
_TABLES = ("evaluation/test_terminal.py", *_EVALUATION, "evaluation/test_evaluation_commands.py")
_DRAWING = ("evaluation/test_plots.py", "evaluation/test_evaluation_commands.py")
_READERS = ("data/test_edges_of_records.py", "data/test_formats.py", "data/test_readers.py")
_STATEMENTS = ("data/test_statements.py", "data/test_tptp_files.py")
_DRAFTS = (
    "data/test_formats.py",
    "data/test_templated.py",
    *_STATEMENTS,
    "data/test_readers.py",
    "data/test_quality.py",
)
_SENTENCES = ("data/test_inflection.py", "data/test_english.py", "data/test_templated.py", "data/test_statements.py")
_TRL = ("integrations/test_gradients.py", "integrations/test_trl_trainer.py", "integrations/test_trl_environment.py")
_RUNS = ("integrations/test_runs.py", "integrations/test_trl_run.py")
_COMMANDS = ("commands/test_messages.py", "commands/test_options.py", "commands/test_results.py")
_GYM = ("integrations/test_reasoning_gym_tasks.py", "integrations/test_reasoning_gym.py")
_MCP = ("integrations/test_mcp.py",)
_INSPECT = ("integrations/test_inspect.py",)

RELATED: Mapping[str, Related] = {
    "proof_r1_formal/commands/gym.py": Related(("integrations/test_reasoning_gym.py",), "integrations"),
    **_in(
        "credit",
        {
            "silence": ("credit/test_silence.py",),
            "align": ("credit/test_align.py", *_CREDIT),
            "assigner": (*_CREDIT, "credit/test_corrections.py", "credit/test_silence.py"),
            "corrections": ("credit/test_corrections.py",),
            "diagnostics": (
                *("credit/test_diagnostics.py", "credit/test_assigner.py", "credit/test_corrections.py"),
                "integrations/test_gradients.py",
            ),
            "methods": ("credit/test_methods.py", "credit/test_corrections.py", *_CREDIT),
            "pieces": ("credit/test_align.py", *_CREDIT, "credit/test_corrections.py"),
            "presets": _PRESETS,
            "terms": _PRESETS,
            "workers": ("credit/test_workers.py", *_CREDIT, "credit/test_corrections.py"),
        },
    ),
    **_in(
        "evaluation",
        {
            "assessment": ("evaluation/test_assessment.py", *_EVALUATION, "evaluation/test_evaluation_commands.py"),
            "curves": ("evaluation/test_plots.py",),
            "definition": ("evaluation/test_study.py", "evaluation/test_evaluation_commands.py"),
            "diagnosis": ("evaluation/test_diagnosis.py", "evaluation/test_evaluation_commands.py"),
            "drawing": _DRAWING,
            "estimates": ("evaluation/test_estimates.py", *_EVALUATION, "evaluation/test_paired.py"),
            "measures": (*_EVALUATION, "evaluation/test_diagnosis.py"),
            "metrics": (*_EVALUATION, "evaluation/test_evaluation_commands.py"),
            "metrics_tables": _TABLES,
            "outcomes": (*_EVALUATION, "evaluation/test_evaluation_commands.py"),
            "paired": ("evaluation/test_paired.py", "evaluation/test_study.py", "evaluation/test_runs.py"),
            "plots": (*_DRAWING, "evaluation/test_review.py"),
            "review": ("evaluation/test_review.py",),
            "runs": ("evaluation/test_runs.py",),
            "selection": ("evaluation/test_selection.py", "evaluation/test_evaluation_commands.py"),
            "study_tables": ("evaluation/test_study.py", "evaluation/test_evaluation_commands.py"),
            "summary": (
                "evaluation/test_metrics.py",
                "test_cli.py",
                "-k",
                "evaluation or verify or evidence or solver",
            ),
            "tables": _TABLES,
            "terminal": _TABLES,
        },
    ),
    **_in("report", {"bundle": ("report/test_bundle.py", "report/test_bundle_lies.py")}),
    **_in(
        "data",
        {
            "tff": ("data/test_tptp_files.py",),
            "__init__": (*_READERS, "data/test_sources.py", "data/test_statements.py"),
            "completions": ("data/test_completions.py", "data/test_layouts.py", "data/test_sources.py"),
            "display": (*_READERS, "generate/test_translation.py", "test_documents.py"),
            "draft": _DRAFTS,
            "english": _SENTENCES,
            "folio": (*_READERS, "data/test_quality.py"),
            "inflection": _SENTENCES,
            "layouts": ("data/test_layouts.py", "data/test_completions.py"),
            "native": ("data/test_native_json.py", *_READERS),
            "problem": (*_READERS, "data/test_statements.py", "proof/test_answer.py", "test_python_api.py"),
            "prontoqa": (*_READERS, "data/test_templated.py"),
            "proofwriter": (*_READERS, "data/test_templated.py", "data/test_quality.py"),
            "prover9": _STATEMENTS,
            "proverqa": (*_READERS, "data/test_quality.py"),
            "quality": ("data/test_quality.py",),
            "records": (*_READERS, "data/test_sources.py"),
            "ruletaker": (*_READERS, "data/test_templated.py"),
            "sources": ("data/test_sources.py", *_READERS),
            "statements": (*_STATEMENTS, "data/test_readers.py"),
            "tptp": _STATEMENTS,
            "trees": (*_READERS, "data/test_templated.py", "data/test_english.py", "data/test_statements.py"),
        },
    ),
    **_in(
        "commands",
        {
            "benchmark": ("assistants/test_engine_certificate.py", "generate/test_prove_command.py"),
            "certificates": (
                *("assistants/test_engine_certificate.py", "test_cli.py", "-k"),
                "certif or theorem or engine or prove or lean or isabelle",
            ),
            "dataset": (*_COMMANDS, "integrations/test_dataset_cards.py", "test_cli.py", "-k", "dataset"),
            "machine": ("test_machine.py",),
            "problem_files": ("commands/test_common.py", "test_cli.py", "-k", "ids or paths or strict or unusable"),
            "tables": ("evaluation/test_terminal.py", "commands/test_options.py"),
            "about": (*_COMMANDS, "test_machine.py", "test_cli.py", "test_start.py", "-k", "rules or doctor or lean"),
            "common": ("commands/test_common.py", "commands/test_results.py", "test_cli.py", "data/test_sources.py"),
            "corrections": (*_COMMANDS, "generate/test_prove_command.py", "-k", "continuations or continued"),
            "evaluation": (
                *(*_COMMANDS, "evaluation/test_evaluation_commands.py", "evaluation/test_plots.py", "test_cli.py"),
                "-k",
                "rates or fit or evaluation or evaluate or best or strict or evidence or broken",
            ),
            "export": ("test_export.py", "test_cli.py", "-k", "export"),
            "formulas": (*_COMMANDS, "test_cli.py", "-k", "fit or parse or notation or english"),
            "page": (*_COMMANDS, "report/test_page.py", "test_cli.py", "-k", "report or page or certificates"),
            "problems": (
                *(*_COMMANDS, "test_cli.py", "test_outputs.py", "generate/test_problems.py", "-k"),
                "difficulty or intended or vocabulary or irrelevant or fit or translate or generate or interrupted",
            ),
            "prompt": (*_COMMANDS, "test_cli.py", "models/test_prompts.py", "-k", "fit or prompt or grammar or ids"),
            "proofs": (
                *_COMMANDS,
                "generate/test_prove_command.py",
                "-k",
                "fit or budget or begin or prove and not continued",
            ),
            "service": (
                *(*_COMMANDS, "test_start.py", "integrations/test_mcp.py", "serve/test_service_robustness.py"),
                *("test_cli.py", "-k", "token or serve or mcp or port or memory"),
            ),
            "soundness": (*_COMMANDS, "test_cli.py", "test_outputs.py", "-k", "share or soundness"),
            "theorems": (
                *(*_COMMANDS, "assistants/test_engine_certificate.py", "test_cli.py", "test_outputs.py"),
                *("evaluation/test_evaluation_commands.py", "-k"),
                "style or group or certif or theor or kernel or bundle or folder or overwrite or ones or combined",
            ),
            "traces": (
                *("test_cli.py", "data/test_sources.py", "-k"),
                "verify or verdicts or show or interrupted or broken or solver or sources or evidence or text or read",
            ),
            "training": (
                *("integrations/test_trl_run.py", "test_cli.py", "-k"),
                "train or dry_run or files or accelerator",
            ),
        },
    ),
    **_in(
        "integrations",
        {
            "environments": ("integrations/test_environments.py", "integrations/test_trl_environment.py"),
            "progress": ("integrations/test_progress.py",),
            "datasets": ("integrations/test_datasets.py", "integrations/test_trl.py"),
            "gradients": _TRL,
            "mcp": _MCP,
            "mcp_results": _MCP,
            "mcp_tools": _MCP,
            "rewards": ("test_python_api.py", "serve/test_adapters.py", "integrations/test_trl.py"),
            "runs": _RUNS,
            "scoring": ("serve/test_adapters.py", "test_python_api.py"),
            "shared_prompts": _TRL,
            "trl": (*_TRL[::-1], *_RUNS),
            "trl_plan": _RUNS,
            "trl_run": _RUNS,
        },
    ),
    **_elsewhere(
        "integrations",
        {
            "reasoning_gym": ("integrations/test_reasoning_gym.py",),
            "reasoning_gym_agreement": _GYM,
            "reasoning_gym_tasks": _GYM,
            "skyrl_gym": ("integrations/test_skyrl_gym.py",),
            "dataset_cards": ("integrations/test_dataset_cards.py",),
            "openrlhf": ("serve/test_adapters.py", "serve/test_openrlhf.py"),
            "verifiers": ("integrations/test_verifiers.py",),
            "verl": ("integrations/test_verl.py", "serve/test_adapters.py"),
            "verl_trainer": ("integrations/test_verl_trainer.py", "-m", "integration"),
        },
    ),
    **_elsewhere(
        "openrlhf",
        {
            "evaluations": _INSPECT,
            "inspect": (*_INSPECT, "integrations/test_inspect_agents.py", "integrations/test_inspect_review.py"),
            "inspect_agents": ("integrations/test_inspect_agents.py",),
            "inspect_json": ("integrations/test_inspect_agents.py", "integrations/test_inspect_review.py"),
            "inspect_review": ("integrations/test_inspect_review.py",),
        },
    ),
}
"""Mutated module -> its related tests; ``-k`` keeps only those of its command."""
