"""The heat map of a pair: well-formed, whatever the names, and with every count."""

from __future__ import annotations

from xml.etree import ElementTree

from studies.audit.heatmap import heatmap


def test_a_heat_map_is_well_formed_and_shows_all_counts() -> None:
    labels = ("UNSAT", "SAT", "Other")
    shown = {(a, b): 100 + 3 * i + j for i, a in enumerate(labels) for j, b in enumerate(labels)}
    picture = heatmap("z3", 'process:<&"x" ' + 100 * "y", labels, shown)
    texts = [element.text for element in ElementTree.fromstring(picture).iter("{http://www.w3.org/2000/svg}text")]
    assert [text for text in texts if text in [*map(str, shown.values())]] == [str(count) for count in shown.values()]
    assert texts[0] is not None
    assert texts[0].startswith('process:<&"x" y')
    assert "prefers-color-scheme: dark" in picture
    assert "0.0 %" in heatmap("a", "b", labels, {})
