"""Runs of many calls: patience, what is paid for once, what it cost, and what a task comes to."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from itertools import chain, repeat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proof_r1_formal.data.completions import Cost
from proof_r1_formal.errors import DataError
from proof_r1_formal.models.chat import (
    CallError,
    Form,
    Message,
    Model,
    ModelError,
    Reply,
    Sampling,
    TimedModel,
    ask_all,
)
from proof_r1_formal.models.journal import Journal, Recorded
from proof_r1_formal.models.runner import ATTEMPTS, LONGEST_PAUSE, Done, Failed, RetryingModel, Task, run


class Scripted:
    """A model that says or raises what comes next; calls take no time."""

    name = "scripted"

    def __init__(self, script: Iterator[Reply | Exception]) -> None:
        self.script = script
        self.asked: list[str] = []

    async def reply(self, chat: Sequence[Message], sampling: Sampling) -> Reply:
        self.asked.append(chat[-1]["content"])
        await asyncio.sleep(0)
        match next(self.script):
            case Exception() as error:
                raise error
            case reply:
                return reply


def replies() -> Iterator[Reply]:
    """Replies that are all different."""
    number = 0
    while True:
        number += 1
        yield Reply(text=f"reply {number}", finish="stop", tokens=number, prompt_tokens=10, started=0, ended=2)


class Clock:
    """Time that passes only where somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    def retrying(self, model: Model, *, per_minute: float | None = None, attempts: int = 3) -> RetryingModel:
        return RetryingModel(model, per_minute=per_minute, attempts=attempts, clock=lambda: self.now, sleep=self.sleep)


def chat(text: str) -> list[Message]:
    return [{"role": "user", "content": text}]


REPLY = Reply(text="yes", finish="stop", started=0, ended=1)
BUSY = CallError("busy", again=True)
REFUSED = CallError("refused", again=False)


# -- patience ---------------------------------------------------------------------------------------------------------


def patiently(script: Sequence[Reply | Exception], clock: Clock, calls: int = 1) -> tuple[Scripted, list[object]]:
    model = Scripted(iter(script))
    retrying = clock.retrying(model)

    async def work() -> list[object]:
        return [await _outcome(retrying.reply(chat("?"), Sampling())) for _ in range(calls)]

    return model, asyncio.run(work())


async def _outcome(call: Awaitable[Reply]) -> object:
    try:
        return (await call).text
    except CallError as error:
        return error


def test_failing_calls_are_repeated_after_longer_pauses() -> None:
    clock = Clock()
    model, outcome = patiently([BUSY, BUSY, REPLY], clock)
    assert outcome == ["yes"]
    assert len(model.asked) == 3
    first, second = clock.slept
    assert 0.75 <= first <= 1.25
    assert 1.5 <= second <= 2.5


def test_all_attempts_together_outlast_a_limit_by_the_minute() -> None:
    clock = Clock()
    with pytest.raises(CallError):
        asyncio.run(clock.retrying(Scripted(repeat(BUSY)), attempts=ATTEMPTS).reply(chat("?"), Sampling()))
    assert clock.now > 60


@pytest.mark.parametrize("after", [0.0, 1e-9])
def test_retrying_at_once_waits_a_little_nevertheless(after: float) -> None:
    clock = Clock()
    model, outcome = patiently([CallError("busy", again=True, after=after)] * 2 + [REPLY], clock)
    assert (outcome, len(model.asked)) == (["yes"], 3)
    assert clock.now >= 0.75 * (1 + 2)


def test_calls_that_failed_together_do_not_come_back_together() -> None:
    clock = Clock()
    retrying = clock.retrying(Scripted(chain([CallError("later", again=True, after=30.0)] * 4, repeat(REPLY))))

    async def work() -> None:
        await asyncio.gather(*[retrying.reply(chat(str(n)), Sampling()) for n in range(4)])

    asyncio.run(work())
    assert len(set(clock.slept)) == 4
    assert all(30.75 <= slept <= 31.25 for slept in clock.slept)


def test_patience_ends() -> None:
    last = CallError("busy for the last time", again=True)
    model, outcome = patiently([BUSY, BUSY, last, REPLY], Clock())
    assert outcome == [last]
    assert len(model.asked) == 3


def test_what_is_refused_is_asked_once() -> None:
    clock = Clock()
    model, outcome = patiently([REFUSED, REPLY], clock)
    assert (outcome, len(model.asked), clock.slept) == ([REFUSED], 1, [])


def test_when_to_come_back_holds_for_all_calls() -> None:
    clock = Clock()
    later = CallError("later", again=True, after=30.0)
    retrying = clock.retrying(Scripted(iter([later, REPLY, REPLY])), attempts=1)

    async def work() -> None:
        with pytest.raises(CallError):
            await retrying.reply(chat("a"), Sampling())
        assert clock.now == 0.0
        await retrying.reply(chat("b"), Sampling())
        assert clock.now == 30.0
        await retrying.reply(chat("c"), Sampling())
        assert clock.now == 30.0

    asyncio.run(work())


def test_a_pause_holds_for_waiting_calls() -> None:
    """At 12 a minute, with 60 seconds to wait said after one: nothing begins in between."""
    now = 0.0
    began: list[float] = []
    sleepers: list[tuple[float, asyncio.Event]] = []

    async def sleep(seconds: float) -> None:
        sleepers.append((now + seconds, woken := asyncio.Event()))
        await woken.wait()

    class Closing:
        name = "closing"

        async def reply(self, chat: Sequence[Message], sampling: Sampling) -> Reply:
            began.append(now)
            if len(began) == 1:
                await sleep(1.0)
                raise CallError("later", again=True, after=60.0)
            return REPLY

    async def work() -> None:
        nonlocal now
        retrying = RetryingModel(Closing(), per_minute=12, clock=lambda: now, sleep=sleep)
        calls = asyncio.gather(*[retrying.reply(chat(str(n)), Sampling()) for n in range(4)])
        while not calls.done():
            for _ in range(20):  # whatever can go on does
                await asyncio.sleep(0)
            if sleepers:
                now, woken = sleepers.pop(sleepers.index(min(sleepers, key=lambda one: one[0])))
                woken.set()

    asyncio.run(work())
    assert len(began) == 5
    assert began[:4] == [0.0, 61.0, 66.0, 71.0]
    assert began[4] >= 76.0


def test_no_pause_is_longer_than_the_longest() -> None:
    clock = Clock()
    patiently([CallError("tomorrow", again=True, after=86_400.0), REPLY], clock)
    assert LONGEST_PAUSE < clock.now < LONGEST_PAUSE + 2


def test_calls_keep_their_distance() -> None:
    clock = Clock()
    began: list[float] = []

    class Noting:
        name = "noting"

        async def reply(self, chat: Sequence[Message], sampling: Sampling) -> Reply:
            began.append(clock.now)
            return REPLY

    retrying = clock.retrying(Noting(), per_minute=30)

    async def work() -> None:
        for _ in range(4):
            await retrying.reply(chat("?"), Sampling())

    asyncio.run(work())
    assert began == [0.0, 2.0, 4.0, 6.0]


def test_only_so_many_calls_are_in_flight() -> None:
    flying = most = 0

    class Slow:
        name = "slow"

        async def reply(self, chat: Sequence[Message], sampling: Sampling) -> Reply:
            nonlocal flying, most
            flying += 1
            most = max(most, flying)
            for _ in range(3):
                await asyncio.sleep(0)
            flying -= 1
            return REPLY

    retrying = RetryingModel(Slow(), concurrency=4)

    async def work() -> None:
        await asyncio.gather(*[retrying.reply(chat(str(n)), Sampling()) for n in range(20)])

    asyncio.run(work())
    assert most == 4


# -- the journal ------------------------------------------------------------------------------------------------------


def asking(*texts: str) -> Callable[[Model], Awaitable[str]]:
    """Asks one after the other, and comes to all replies."""

    async def work(model: Model) -> str:
        return " | ".join([(await model.reply(chat(text), Sampling())).text for text in texts])

    return work


def do(
    tasks: Sequence[Task[str]], model: Model, path: Path, *, concurrency: int = 1
) -> tuple[list[Done[str] | Failed[str]], Journal]:
    with Journal(path) as journal:
        return asyncio.run(run(tasks, model, journal, concurrency=concurrency)), journal


def test_a_second_run_pays_for_nothing(tmp_path: Path) -> None:
    tasks = [Task(f"t{n}", asking("same", "same", "other")) for n in range(5)]
    model = Scripted(replies())
    first, journal = do(tasks, model, tmp_path / "j", concurrency=3)
    assert (len(model.asked), journal.replayed, journal.tokens) == (15, 0, 120)
    assert len({done.found for done in first if isinstance(done, Done)}) == 5  # who asks twice gets two replies
    again, journal = do(tasks, Scripted(iter([])), tmp_path / "j", concurrency=2)
    assert again == first
    assert (journal.replayed, journal.tokens) == (15, 0)


@given(st.data())
def test_a_run_that_is_cut_anywhere_pays_for_the_rest_only(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("cut") / "j"
    tasks = [Task(f"t{n}", asking("a", "b", "b")) for n in range(3)]
    first, _ = do(tasks, Scripted(replies()), path)
    whole = path.read_bytes()
    size = data.draw(st.integers(0, len(whole)))
    path.write_bytes(whole[:size])
    kept = whole[:size].count(b"\n")
    model = Scripted(replies())
    second, journal = do(tasks, model, path)
    assert (journal.replayed, len(model.asked)) == (kept, 9 - kept)
    assert path.read_bytes().count(b"\n") == 9
    assert path.read_bytes().startswith(whole[: whole[:size].rfind(b"\n") + 1])
    assert [type(done) for done in second] == [type(done) for done in first]


@given(st.data())
def test_damage_within_a_journal_destroys_nothing(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("damage") / "j"
    do([Task("t", asking(*"abcde"))], Scripted(replies()), path)
    lines = path.read_bytes().splitlines(keepends=True)
    number = data.draw(st.integers(0, 3))
    lines[number] = data.draw(
        st.sampled_from([b"\n", b"{}\n", b"[" * 100_000 + b"\n", b"\xff" + lines[number], b"{\n"])
    )
    path.write_bytes(damaged := b"".join(lines))
    with pytest.raises(DataError, match=f"line {number + 1}: no reply"):
        Journal(path)
    assert path.read_bytes() == damaged
    path.write_bytes(b"".join([*lines[:number], *lines[number + 1 :]]))
    _, journal = do([Task("t", asking(*"abcde"))], Scripted(replies()), path)
    assert journal.replayed == 4


@pytest.mark.parametrize("last", [b'{"key": "k", "of"', b"nonsense\n", b"\xff\n", b"["])
def test_a_last_line_that_was_cut_short_is_dropped(last: bytes, tmp_path: Path) -> None:
    do([Task("t", asking("a", "b"))], Scripted(replies()), tmp_path / "j")
    whole = (tmp_path / "j").read_bytes()
    (tmp_path / "j").write_bytes(whole + last)
    Journal(tmp_path / "j").__exit__(None, None, None)
    assert (tmp_path / "j").read_bytes() == whole


def test_two_runs_do_not_share_a_journal(tmp_path: Path) -> None:
    """Of processes: that is what runs are."""
    code = "import sys; from pathlib import Path; from proof_r1_formal.models.journal import Journal; "
    code += "Journal(Path(sys.argv[1])).__exit__(None, None, None)"
    command = [sys.executable, "-c", code, str(tmp_path / "j")]
    with Journal(tmp_path / "j"):
        second = subprocess.run(command, capture_output=True, text=True, check=False)
    assert second.returncode == 1
    assert "j: another run is writing this file; wait for it, or name another output" in second.stderr
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0


def test_other_settings_models_and_tasks_are_other_questions(tmp_path: Path) -> None:
    async def work() -> None:
        with Journal(tmp_path / "j") as journal:
            model, other = Scripted(replies()), Scripted(replies())
            other.name = "other"
            for who, of, sampling, text in [
                (model, "t", Sampling(), "?"),
                (model, "u", Sampling(), "?"),
                (model, "t", Sampling(temperature=0.1), "?"),
                (model, "t", Sampling(thinking="native"), "?"),
                (model, "t", Sampling(form=Form("grammar")), "?"),
                (model, "t", Sampling(form=Form("grammar guided 4 none")), "?"),
                (model, "t", Sampling(), "!"),
                (other, "t", Sampling(), "?"),
            ]:
                await Recorded(who, journal, of).reply(chat(text), sampling)
            assert journal.replayed == 0
            await Recorded(model, journal, "t").reply(chat("?"), Sampling())
            assert journal.replayed == 1
            await Recorded(model, journal, "t").reply(chat("?"), Sampling(form=Form("grammar"), seed=7))
            assert journal.replayed == 2

    asyncio.run(work())
    keys = [json.loads(line)["key"] for line in (tmp_path / "j").read_text("ascii").splitlines()]
    assert keys[0] == "a718c8e170286d217c9f12d74b8bd538"  # as before there were forms: old journals are of use


@given(st.text(st.characters(exclude_categories=[])))
def test_any_text_comes_back_from_a_journal(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.mktemp("texts") / "j"
    reply = Reply(text=text, finish="stop", started=0.5, ended=1.5)
    (first,), _ = do([Task("t", asking(text))], Scripted(iter([reply])), path)
    (again,), journal = do([Task("t", asking(text))], Scripted(iter([])), path)
    assert first == again or (isinstance(again, Done) and again.found == text)
    assert journal.replayed == 1


# -- tasks ------------------------------------------------------------------------------------------------------------


def test_failures_are_outcomes_and_are_asked_again(tmp_path: Path) -> None:
    tasks = [Task(name, asking(name, name)) for name in "abc"]
    script: list[Reply | Exception] = [REPLY, REPLY, REPLY, REFUSED, REPLY, REPLY]
    found, _ = do(tasks, Scripted(iter(script)), tmp_path / "j")
    good, bad, other = found
    assert isinstance(good, Done) and isinstance(other, Done)
    assert isinstance(bad, Failed)
    assert (bad.problem, bad.cost.calls) == ("refused", 1)
    model = Scripted(iter([REPLY]))
    found, _ = do(tasks, model, tmp_path / "j")
    assert all(isinstance(one, Done) for one in found)
    assert model.asked == ["b"]


def test_what_is_asked_beside_a_call_that_fails_is_paid_for_once(tmp_path: Path) -> None:
    async def work(model: Model) -> str:
        return " | ".join([reply.text for reply in await ask_all(model, map(chat, "abc"), Sampling())])

    class Refusing:
        """Refuses at once; what else it is asked takes a while."""

        name = "scripted"

        async def reply(self, chat: Sequence[Message], sampling: Sampling) -> Reply:
            if chat[0]["content"] == "a":
                raise REFUSED
            for _ in range(9):
                await asyncio.sleep(0)
            return REPLY

    (failed,), _ = do([Task("t", work)], Refusing(), tmp_path / "j")
    assert isinstance(failed, Failed)
    assert (failed.problem, failed.cost.calls) == ("refused", 2)
    again = Scripted(iter([REPLY]))
    (done,), journal = do([Task("t", work)], again, tmp_path / "j")
    assert (again.asked, journal.replayed) == (["a"], 2)
    assert isinstance(done, Done)


def test_a_model_that_cannot_be_used_ends_the_run(tmp_path: Path) -> None:
    tasks = [Task(str(n), asking("?")) for n in range(9)]
    model = Scripted(iter([REPLY, *[ModelError("no such model")] * 8]))
    with pytest.raises(ModelError, match="no such model"):
        do(tasks, model, tmp_path / "j", concurrency=2)
    assert len((tmp_path / "j").read_bytes().splitlines()) == 1


def test_outcomes_keep_the_order_of_tasks(tmp_path: Path) -> None:
    ended: list[str] = []
    tasks = [Task(str(n), asking(*["?"] * (9 - n))) for n in range(5)]
    with Journal(tmp_path / "j") as journal:
        found = asyncio.run(
            run(tasks, Scripted(replies()), journal, concurrency=5, on_outcome=lambda one: ended.append(one.task.of))
        )
    assert [one.task.of for one in found] == ["0", "1", "2", "3", "4"]
    assert ended == ["4", "3", "2", "1", "0"]


def test_what_a_task_cost(tmp_path: Path) -> None:
    spans = [(0.0, 4.0), (1.0, 2.0), (3.0, 6.0), (10.0, 11.5)]
    script = [
        Reply(text="", finish="stop", tokens=n, prompt_tokens=n, started=a, ended=b) for n, (a, b) in enumerate(spans)
    ]
    (done,), _ = do([Task("t", asking("a", "b", "c", "d"))], Scripted(iter(script)), tmp_path / "j")
    assert done.cost == Cost(tokens=6, prompt_tokens=6, seconds=7.5, calls=4)
    unknown = [script[0], Reply(text="", finish="stop", started=0, ended=0)]
    (done,), _ = do([Task("t", asking("a", "b"))], Scripted(iter(unknown)), tmp_path / "k")
    assert (done.cost.tokens, done.cost.prompt_tokens, done.cost.calls) == (None, None, 2)


def test_what_else_a_task_takes_is_counted_once(tmp_path: Path) -> None:
    """Four seconds of a call, and four of something else, one of which was at the same time."""

    async def work(model: TimedModel) -> str:
        text = await asking("a")(model)
        model.worked(3.0, 7.0)
        return text

    reply = Reply(text="", finish="stop", started=0.0, ended=4.0)
    (done,), _ = do([Task("t", work)], Scripted(iter([reply])), tmp_path / "j")
    assert (done.cost.seconds, done.cost.calls) == (7.0, 1)


def test_a_journal_is_json(tmp_path: Path) -> None:
    do([Task("garden/1, sample 0", asking("?"))], Scripted(iter([REPLY])), tmp_path / "j")
    record = json.loads((tmp_path / "j").read_text())
    assert record["of"] == "garden/1, sample 0"
    assert record["reply"]["text"] == "yes"
