"""What only a Ray cluster has: nodes that are lost, and commands that use it."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import count, islice
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from proof_r1_formal.cli import main
from proof_r1_formal.workers import ordered_map
from tests.build import ROOT
from tests.workers import tasks

if TYPE_CHECKING:
    from ray.cluster_utils import Cluster

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:unclosed file.*/dev/null:ResourceWarning"),  # Ray leaves them to the collector
]

EXAMPLES = [f"--{name}={ROOT / 'examples' / name}.jsonl" for name in ("problems", "completions")]


@pytest.fixture
def executor(cluster: Cluster) -> str:
    return f"ray:{cluster.address}"


def test_a_lost_node_is_done_without_until_there_is_another(cluster: Cluster, executor: str) -> None:
    node = cluster.add_node(num_cpus=1)
    seen: set[int] = set()
    lost = added = False
    for expected, done in enumerate(islice(ordered_map(tasks.work, count(), 3, executor=executor), 40_000)):
        assert done.number == expected
        seen.add(done.process)
        if not lost and len(seen) == 3:
            cluster.remove_node(node, allow_graceful=False)
            lost = True
        elif lost and not added:
            cluster.add_node(num_cpus=1)
            added = True
        elif len(seen) == 4:
            return
    pytest.fail(f"after a lost node, only {seen} had work")


# -- privacy ----------------------------------------------------------------------------------------------------------

LISTENING = """
import os
from pathlib import Path

from studies.bench.cluster import descendants
from proof_r1_formal.workers import ordered_map
from tests.workers import tasks


def sockets(pid):
    try:
        return [os.readlink(descriptor) for descriptor in Path(f"/proc/{pid}/fd").iterdir()]
    except OSError:
        return []


for _ in ordered_map(tasks.work, range(1), 1, executor="ray:local"):
    family = [os.getpid(), *[pid for pid, _ in descendants(os.getpid())]]
    ours = {socket for pid in family for socket in sockets(pid)}
    for table in ("tcp", "tcp6"):
        for line in Path("/proc/net", table).read_text().splitlines()[1:]:
            _, local, _, state, *rest = line.split()
            if state == "0A" and f"socket:[{rest[5]}]" in ours:
                print(local.partition(":")[0])
"""


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="only Linux lists sockets there")
@pytest.mark.parametrize("before", ["", "import ray"])
def test_a_private_cluster_listens_on_the_loopback_address_only(before: str) -> None:
    pytest.importorskip("ray", reason="Ray is not installed")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    environment["PYTHONPATH"] = str(ROOT)
    done = subprocess.run(
        [sys.executable, "-c", f"{before}\n{LISTENING}"], env=environment, capture_output=True, text=True, check=True
    )
    loopback = {"0100007F", "0000000000000000FFFF00000100007F"}
    assert done.stdout.split()
    assert set(done.stdout.split()) <= loopback


# -- the command line -------------------------------------------------------------------------------------------------


def test_commands_give_the_same_bytes_on_ray(cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    private, joined = ("--ray", "--workers=2"), (f"--ray={cluster.address}", "--workers=2")
    _run("verify", *EXAMPLES, f"--out={tmp_path / 'private'}", *private)
    for command, name in (("verify", ""), ("generate", "generated-")):
        inputs = ["--n=20"] if command == "generate" else EXAMPLES
        monkeypatch.setattr(sys, "argv", ["proof-r1", command, *inputs, f"--out={tmp_path}/{name}here"])
        with pytest.raises(SystemExit, match="0"):
            main()
        _run(command, *inputs, f"--out={tmp_path}/{name}joined", *joined)
    assert len({(tmp_path / name).read_bytes() for name in ("here", "private", "joined")}) == 1
    assert (tmp_path / "generated-here").read_bytes() == (tmp_path / "generated-joined").read_bytes()


def _run(*arguments: str) -> None:
    command = (sys.executable, "-c", "from proof_r1_formal.cli import main; main()", *arguments)
    result = subprocess.run(command, capture_output=True, text=True, check=False, encoding="utf-8")
    assert result.returncode == 0, result.stderr
