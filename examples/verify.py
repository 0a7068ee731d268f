"""Verify one completion, and say why each step passes or fails.

python examples/verify.py
"""

from pathlib import Path

from proof_r1_formal import read_problems, verify

problem = read_problems(Path(__file__).parent / "problems.jsonl")["garden/1"]
completion = """<summary>[
{"id": "s1", "dependencies": ["h1", "h2"], "conclusion": "waters_roses(Mara)", "rule": "IMPLICATION_ELIMINATION"},
{"id": "s2", "dependencies": ["s1"], "conclusion": "on_duty(Bob)", "rule": "MODUS_TOLLENS"},
{"id": "h_goal_true", "dependencies": ["s1"], "conclusion": "waters_roses(Mara)", "rule": "GOAL_BINDING"}
]</summary>"""
report = verify(problem, completion)
print(report.explain())
print("verified:", report.verified, "reward:", report.reward("sound"))
