"""Completion text to actions: spans are exact, and nothing makes the reader raise."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec import structs

from check_bundle import actions_of
from proof_r1_formal.proof.action import Action, count_actions, read_completion
from proof_r1_formal.proof.report import Code

GOOD = {"id": "s1", "dependencies": ["h1"], "conclusion": "P a", "rule": "CONJUNCTION_ELIMINATION"}


def one(text: str) -> Action:
    (action,) = read_completion(f"<summary>[{text}]</summary>").actions
    return action


def codes(action: Action) -> list[Code]:
    return [finding.code for finding in action.findings]


@given(st.lists(st.text(max_size=8), max_size=4), st.text(max_size=20), st.integers(0, 4))
def test_spans_are_exact_whatever_the_text(conclusions: list[str], before: str, indent: int) -> None:
    items = [json.dumps({**GOOD, "conclusion": c}, ensure_ascii=False, indent=indent or None) for c in conclusions]
    text = f"{before}</think><summary>[{' , '.join(items)}]</summary>"
    trace = read_completion(text)
    if any("<summary>" in item or "</" in item for item in items):
        return
    assert trace.parsed
    assert [text[slice(*action.span)] for action in trace.actions] == items


@given(st.text(alphabet=st.sampled_from('<summary>/think[]{}",:\\ \n`json0.5ééu'), max_size=60))
def test_no_text_makes_it_raise(text: str) -> None:
    trace = read_completion(text)
    assert count_actions(text) == len(trace.actions)
    for action in trace.actions:
        start, end = action.span
        assert 0 <= start <= end <= len(text)
    assert trace.parsed or [codes(action) for action in trace.actions] == [[Code.MALFORMED]]


def test_the_summary_is_the_first_after_the_last_think() -> None:
    text = "<summary>[1]</summary></think><summary>[]</summary><summary>[2]</summary>"
    trace = read_completion(text)
    assert trace.parsed
    assert trace.actions == ()


@pytest.mark.parametrize("fence", ["```json\n{}\n```", "```\n{}```", "\n ```JSON \r\n{}\r\n ```\n"])
def test_a_markdown_fence_is_taken_off(fence: str) -> None:
    text = f"<summary>{fence.format(f'[{json.dumps(GOOD)}]')}</summary>"
    trace = read_completion(text)
    assert trace.parsed
    assert text[slice(*trace.actions[0].span)] == json.dumps(GOOD)


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        ("no summary at all", "no summary at all"),
        ("<think>a</think><summary>[", "["),
        ("<summary>[1, ]</summary>", "[1, ]"),
        ("<summary>[1] [2]</summary>", "[1] [2]"),
        ("<summary>{}</summary>", "{}"),
        ("<summary></summary>", ""),
        ("<summary>[NaN]</summary>", "[NaN]"),
        ('<summary>["a\nb"]</summary>', '["a\nb"]'),
        (f"<summary>{'[' * 100_000}</summary>", "[" * 100_000),
        ("<summary>[" + "[" * 65 + "]" * 65 + "]</summary>", "[" + "[" * 65 + "]" * 65 + "]"),
        ('<summary>[{"a":' + "[" * 64 + "]" * 64 + "}]</summary>", '[{"a":' + "[" * 64 + "]" * 64 + "}]"),
    ],
)
def test_unparsed_text_is_one_malformed_action(text: str, inside: str) -> None:
    trace = read_completion(text)
    assert not trace.parsed
    (action,) = trace.actions
    assert codes(action) == [Code.MALFORMED]
    assert text[slice(*action.span)] == inside


SPACES = "\u00a0\u1680\u2000\u2007\u200a\u202f\u205f\u3000"


@given(st.lists(st.sampled_from([*SPACES, " ", "\n"]), min_size=12, max_size=12))
@example(list("\u00a0" * 12))
def test_spaces_of_unicode_are_blanks_between_the_parts_of_the_array(spaces: list[str]) -> None:
    keys = [(name, json.dumps(value, ensure_ascii=False)) for name, value in GOOD.items()]
    fields = [f'{spaces[place]}"{name}":{spaces[place + 4]}{value}' for place, (name, value) in enumerate(keys)]
    item = f"{{{','.join(fields)}{spaces[8]}}}"
    text = f"<summary>{spaces[9]}[{spaces[10]}{item},{item}{spaces[11]}]\u3000</summary>"
    trace = read_completion(text)
    assert trace.parsed
    assert [text[slice(*action.span)] for action in trace.actions] == [item, item]
    assert {structs.replace(action, span=(0, 0)) for action in trace.actions} == {
        structs.replace(one(json.dumps(GOOD)), span=(0, 0))
    }
    assert actions_of(text) == actions_of(text.translate(dict.fromkeys(map(ord, SPACES), " ")))
    assert actions_of(text)[0]


def test_spaces_of_unicode_stay_in_the_strings_of_the_array() -> None:
    text = json.dumps({**GOOD, "id": "s\u00a01", "rule": '\\"\u3000'}, ensure_ascii=False).replace(": ", ":\u00a0")
    assert (one(text).id, one(text).rule) == ("s\u00a01", '\\"\u3000')
    assert not read_completion(f"<summary>[{text[:-1]}\u00a0]</summary>").parsed
    assert not read_completion(f"<summary>[{'[' * 100_000}\u00a0]</summary>").parsed


@pytest.mark.parametrize(
    ("inside", "place", "name"),
    [
        ("[{“id”: 1}]", 11, "U+201C (left double quotation mark)"),
        ("[1,\ufeff2]", 12, "U+FEFF (zero width no-break space)"),
        ("[1\u200b]", 11, "U+200B (zero width space)"),
        ("\ufeff[]", None, "U+FEFF (zero width no-break space)"),
        ("[1,\u00a0‘a’]", 13, "U+2018 (left single quotation mark)"),
        ("[\ue000]", 10, "U+E000 (without a name)"),
    ],
)
def test_an_unusual_character_in_the_array_is_named(inside: str, place: int | None, name: str) -> None:
    (action,) = read_completion(f"<summary>{inside}</summary>").actions
    (finding,) = action.findings
    assert finding.message.endswith(f": {name}")
    assert place is None or f" at character {place} " in finding.message


@pytest.mark.parametrize("value", ["[" * 63 + "]" * 63, "1" + "0" * 5000, "1e999", f"[{'[],' * 100}[]]"])
def test_what_is_read_does_not_depend_on_limits_of_python(value: str) -> None:
    assert codes(one(value)) == [Code.NOT_AN_OBJECT]
    assert codes(one(json.dumps(GOOD)[:-1] + f', "id": {value}' + "}")) == [Code.DUPLICATE_KEY]


_FENCE = re.compile(r"\s*```[A-Za-z0-9]*[ \t]*\r?\n(.*?)\r?\n?[ \t]*```\s*", re.DOTALL)
"""A Markdown fence around everything, as one pattern; a match of it takes quadratic time."""


@given(st.text(alphabet=st.sampled_from("```` \t\r\n\u2003j9é[]"), max_size=14))
@example("```\n```")
@example("```json\n[]``````")
@example("\n```j9 \t\r\n[]\r\n \t```\u2003")
def test_a_fence_is_what_the_pattern_says(inside: str) -> None:
    whole = f"<summary>{inside}</summary>"
    fence = _FENCE.fullmatch(inside)
    plain = f"<summary>{inside if fence is None else fence[1]}</summary>"
    assert read_completion(whole).parsed == read_completion(plain).parsed


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"extra": 1}, Code.EXTRA_FIELD),
        ({"id": ""}, Code.WRONG_TYPE),
        ({"id": None}, Code.WRONG_TYPE),
        ({"rule": ["X"]}, Code.WRONG_TYPE),
        ({"dependencies": "h1"}, Code.NOT_A_LIST),
        ({"dependencies": ["h1", ""]}, Code.WRONG_TYPE),
        ({"dependencies": ["h1", 2]}, Code.WRONG_TYPE),
        ({"dependencies": ["a", "b", "c", "d", "e"]}, Code.TOO_MANY_DEPENDENCIES),
        ({"id": "s\ud800"}, Code.WRONG_TYPE),
        ({"conclusion": "P(\ud800)"}, Code.WRONG_TYPE),
        ({"dependencies": ["\udfff"]}, Code.WRONG_TYPE),
        ({"conclusion": "P(a"}, Code.UNPARSABLE_CONCLUSION),
        ({"conclusion": "(" * 10_000}, Code.UNPARSABLE_CONCLUSION),
    ],
)
def test_elements_that_are_not_well_formed(change: dict[str, object], expected: Code) -> None:
    assert codes(one(json.dumps({**GOOD, **change}))) == [expected]


@pytest.mark.parametrize("field", ["id", "dependencies", "conclusion", "rule"])
def test_each_field_is_needed(field: str) -> None:
    assert codes(one(json.dumps({k: v for k, v in GOOD.items() if k != field}))) == [Code.MISSING_FIELD]


def test_other_elements_and_repeated_keys() -> None:
    assert codes(one("[1]")) == [Code.NOT_AN_OBJECT]
    assert codes(one("null")) == [Code.NOT_AN_OBJECT]
    repeated = one('{"id": "a", "id": "b", "dependencies": [], "conclusion": "P", "rule": "R"}')
    assert codes(repeated) == [Code.DUPLICATE_KEY]
    assert repeated.id == "a"


def test_an_element_is_read_alike_wherever_it_stands() -> None:
    known = json.dumps(GOOD)
    items = [known, f'{known[:-1]}, "more": {{}}}}', json.dumps(GOOD | {"conclusion": "}"}), known]
    text = f"<summary>[{','.join(items)}]</summary>"
    actions = read_completion(text).actions
    assert [codes(action) for action in actions] == [[], [Code.EXTRA_FIELD], [Code.UNPARSABLE_CONCLUSION], []]
    assert [text[slice(*action.span)] for action in actions] == items
    assert structs.replace(actions[3], span=actions[0].span) == actions[0]
    assert not read_completion(f"<summary>[{known}}}]</summary>").parsed


ODD = st.text(
    st.sampled_from(["h", "1", "é", '"', "\\", "\n", "\x7f", "\u2028", "\ud800", "}", "\U0001f408"]), max_size=3
)
TEXTS = st.one_of(st.just("h1"), st.just("P(a)"), ODD)


@given(
    field=st.fixed_dictionaries(
        {"id": TEXTS, "dependencies": st.lists(TEXTS, max_size=5), "conclusion": TEXTS, "rule": TEXTS}
    ),
    more=st.lists(
        st.tuples(st.sampled_from(["id", "rule", "dependencies", "note"]), TEXTS | st.integers()), max_size=1
    ),
    blank=st.just(" ") | st.sampled_from(["\n", "\t", "\x00", "\u00a0", "x"]),
    escaped=st.booleans(),
)
def test_a_short_element_is_read_as_a_long_one(
    field: dict[str, object], more: list[tuple[str, object]], blank: str, escaped: bool
) -> None:
    """Short elements have a decoder of their own where nothing is wrong with them."""
    pairs = [f"{json.dumps(k)}:{json.dumps(v, ensure_ascii=escaped)}" for k, v in (*field.items(), *more)]
    short = f"{{{blank}{','.join(pairs)}}}"
    long = short[:-1] + 400 * " " + "}"
    actions = [read_completion(f"<summary>[{text}]</summary>").actions for text in (short, long)]
    assert [structs.replace(action, span=(0, 0), findings=()) for action in actions[0]] == [
        structs.replace(action, span=(0, 0), findings=()) for action in actions[1]
    ]
    assert [finding.code for finding in actions[0][0].findings] == [finding.code for finding in actions[1][0].findings]


def test_a_dependency_named_twice_counts_once_but_twice_towards_the_limit() -> None:
    action = one(json.dumps({**GOOD, "dependencies": ["h1", "h2", "h1", "h3"]}))
    more = one(json.dumps({**GOOD, "dependencies": ["h1", "h2", "h1", "h3", "h2"]}))
    assert action.dependencies == more.dependencies == ("h1", "h2", "h3")
    assert (codes(action), codes(more)) == ([], [Code.TOO_MANY_DEPENDENCIES])
