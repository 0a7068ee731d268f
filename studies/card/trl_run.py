"""Three batches of ``ProofTrainer`` with vLLM's server, or with DeepSpeed's ZeRO-3.

    python -m studies.card.trl_run server|zero3 FOLDER

In: the model and the problems of ``studies.gpu prepare``. Out: ``FOLDER/found.json``. The server runs on the last card,
the trainer on the first. Where that is the same card, NCCL must allow two processes on it, which it does from 2.30 on.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from statistics import fmean
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

import torch

from proof_r1_formal import read_problems
from proof_r1_formal.integrations.datasets import problems_dataset
from proof_r1_formal.integrations.runs import load_tokenizer
from proof_r1_formal.integrations.trl import ProofConfig, ProofTrainer
from studies.card.found import Check, Found
from studies.card.settings import ANSWER_TOKENS, PROMPT_TOKENS, UPDATES, trl

MODEL, PROBLEMS = Path("out/pretrained/model"), Path("out/gpu/problems.jsonl")
ONE_CARD = {"NCCL_MULTI_RANK_GPU_ENABLE": "1"}
ALONE = {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "0"}
"""The environment of one process of DeepSpeed."""
START = 90
"""Seconds in which the server must answer."""


class Watched(ProofTrainer):
    """Measures verification, and how the engine and the policy differ."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.differences: list[float] = []
        self.credited: list[float] = []
        self.tokens: list[int] = []
        self.verifying: list[float] = []
        verify = self.assigner.verify

        def timed(*given: Any, **more: Any) -> Any:
            start = time.perf_counter()
            found = verify(*given, **more)
            self.verifying.append(time.perf_counter() - start)
            return found

        self.assigner.verify = timed  # type: ignore[method-assign]

    def _generate_and_score_completions(self, inputs: list[dict[str, Any]]) -> dict[str, Any]:
        output: dict[str, Any] = super()._generate_and_score_completions(inputs)
        self.credited.append(float(output["advantages"].abs().max()))
        self.tokens.append(int(output["completion_mask"].sum()))
        if (sampled := output.get("sampling_per_token_logps")) is not None:
            mask = output["completion_mask"].bool()
            self.differences.append(float((output["old_per_token_logps"] - sampled)[mask].abs().mean()))
        return output


def make_trainer(
    engine: str, model: Path, problems: Path, output: Path, *, port: int = 0, cpu: bool = False, **changes: Any
) -> Watched:
    """A trainer with the settings of an engine, and changes to them."""
    rows = problems_dataset(read_problems(problems).values(), prompt="full" if not cpu else "short")
    options: dict[str, Any] = {**trl(engine, output, port=port, cpu=cpu), **changes}
    return Watched(
        str(model),
        args=ProofConfig(**options),
        train_dataset=rows,
        processing_class=load_tokenizer(str(model)),
    )


def train(made: Watched) -> Found:
    """Train, and what is to be checked: losses, credit, that weights move, and that the engine follows them."""
    before = {name: weight.detach().clone().cpu() for name, weight in _weights(made.model)}
    start = time.perf_counter()
    made.train()
    seconds = time.perf_counter() - start
    moved = [float((weight.detach().cpu() - before[name]).abs().max()) for name, weight in _weights(made.model)]
    logs = [one for one in made.state.log_history if "loss" in one]
    checks = {
        "updates": Check(len(logs), low=2 * UPDATES, high=2 * UPDATES),
        "largest loss": Check(max(abs(one["loss"]) for one in logs), high=1e4),
        "least credit of a batch": Check(min(made.credited), low=1e-6),
        "largest change of a weight": Check(max(moved), low=1e-9),
        "broken": Check(sum(one.get("proof/broken", 0.0) for one in logs), high=0.0),
    }
    if made.args.use_vllm:
        checks["engine and policy differ"] = Check(max(made.differences, default=float("nan")), high=0.05)
    numbers: dict[str, float | None] = {
        "seconds": seconds,
        "tokens per second": sum(made.tokens) / seconds,
        "seconds of verification per batch": fmean(made.verifying),
        "completions per batch": float(made.args.per_device_train_batch_size * 2),
        "allocated GiB": torch.cuda.max_memory_allocated() / 2**30 if torch.cuda.is_available() else None,
    }
    return Found(checks, numbers)


def _weights(model: Any) -> Iterator[tuple[str, torch.Tensor]]:
    """The weights of a model, also of one that ZeRO-3 holds in parts; an adapter's or a head's alone would do, too."""
    for name, weight in model.named_parameters():
        if name.endswith("norm.weight") or "layers.0." in name:
            if hasattr(weight, "ds_id"):
                import deepspeed

                with deepspeed.zero.GatheredParameters([weight]):
                    yield name, weight.data.float()
            else:
                yield name, weight.data.float()


# -- vLLM's server ----------------------------------------------------------------------------------------------------


@contextmanager
def serving(model: Path, port: int, log: Path) -> Iterator[None]:
    """vLLM's server of a model, on the last card.

    Raises:
        TimeoutError: it does not answer in time, or ended.
    """
    cards = torch.cuda.device_count()
    options = {"--gpu-memory-utilization": "0.3", "--max-model-len": str(PROMPT_TOKENS + ANSWER_TOKENS)}
    words = [word for pair in options.items() for word in pair]
    transfer = ["--weight-transfer-config", '{"backend": "nccl"}', "--enforce-eager"]
    command = [sys.executable, "-m", "vllm.entrypoints.cli.main", "serve", str(model), "--port", str(port)]
    own = {"VLLM_SERVER_DEV_MODE": "1", "CUDA_VISIBLE_DEVICES": str(cards - 1), **ONE_CARD}
    with log.open("w") as output:
        server = subprocess.Popen(
            [*command, *words, *transfer], env={**os.environ, **own}, stdout=output, stderr=subprocess.STDOUT
        )
        try:
            _wait(server, f"http://127.0.0.1:{port}/health")
            yield
        finally:
            server.terminate()
            server.wait()


def _wait(server: subprocess.Popen[bytes], address: str) -> None:
    deadline = time.monotonic() + START
    while server.poll() is None and time.monotonic() < deadline:
        try:
            with urlopen(address, timeout=5) as answer:
                if answer.status == 200:
                    return
        except (URLError, OSError):
            time.sleep(0.5)
    raise TimeoutError(f"{address} did not answer in {START} s; its log is in the folder of the step")


def refusal(cards: int, nccl: tuple[int, ...]) -> str:
    """Why the server cannot get weights from a trainer here; empty if it can."""
    if cards == 0:
        return "vLLM's server gets weights by NCCL, which needs a card"
    if cards == 1 and nccl < (2, 30):
        found = ".".join(map(str, nccl))
        return f"NCCL {found} refuses two processes on one card; from 2.30 on it can allow them"
    return ""


def environment(engine: str) -> Mapping[str, str]:
    """What the process of the trainer must have."""
    return ALONE if engine == "zero3" else ONE_CARD


def main() -> None:
    """Run one engine, and write what was found."""
    engine, folder = sys.argv[1], Path(sys.argv[2])
    os.environ.update(environment(engine))
    torch.manual_seed(0)
    if engine == "zero3":
        train(make_trainer(engine, MODEL, PROBLEMS, folder / "run")).write(folder)
        return
    nccl = torch.cuda.nccl.version() if torch.cuda.is_available() else ()
    if why := refusal(torch.cuda.device_count(), nccl):
        Found(not_run=why).write(folder)
        return
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folder.mkdir(parents=True, exist_ok=True)
    with serving(MODEL, port, folder / "server.log"):
        train(make_trainer(engine, MODEL, PROBLEMS, folder / "run", port=port)).write(folder)


if __name__ == "__main__":
    main()
