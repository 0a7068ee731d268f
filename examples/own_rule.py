"""Add a rule of your own, and have the Lean kernel check its theorem first.

Needs Lean: pip install 'proof-r1-formal[kernel]', or elan.

    python examples/own_rule.py
"""

import json
import tempfile
from pathlib import Path

from proof_r1_formal import Catalogue, Problem, Verifier, parse_formula, three_way_options
from proof_r1_formal.assistants.lean import LeanKernel, LeanTheorem
from proof_r1_formal.assistants.theories import manifest_bytes, manifest_of
from proof_r1_formal.data.problem import Premise
from proof_r1_formal.render.lean import schema_statement
from proof_r1_formal.rules.schema import Example, Rule, schema

pattern = schema("hypothetical_syllogism", "A → B; B → C", "", "A → C")
rule = Rule(
    "HYPOTHETICAL_SYLLOGISM",
    "from A → B and B → C, conclude A → C",
    (pattern,),
    Example(("rain → wet(lawn)", "wet(lawn) → slippery(lawn)"), "rain → slippery(lawn)"),
)

# The statement is rendered from the patterns that the verifier uses. You give the proof, as a Lean term.
statement = schema_statement((*pattern.principal, *pattern.minor), pattern.conclusion)
proof = "fun _ _ _ f g a => g (f a)"
kernel = LeanKernel.find()
if kernel is None:
    raise SystemExit("Lean is not installed: pip install 'proof-r1-formal[kernel]'")
[judgement] = kernel.check([LeanTheorem(f": {statement}", proof)])
print(statement)
print(kernel.version, "accepts it" if judgement.accepted else f"rejects it: {judgement.reason}")

with tempfile.TemporaryDirectory() as folder:
    manifest = Path(folder) / "manifest.json"
    own = Catalogue("own", (rule,), manifest=manifest)
    manifest.write_bytes(manifest_bytes(manifest_of(own, kernel.version, {pattern.name: judgement})))
    verifier = Verifier(rules=own)  # refuses a schema without an accepted theorem

premises = tuple([Premise(f"h{n}", parse_formula(text)) for n, text in enumerate(rule.example.dependencies, 1)])
problem = Problem("lawn/1", premises, three_way_options(parse_formula(rule.example.conclusion)))
conclusion = rule.example.conclusion
action = {"id": "s1", "dependencies": ["h1", "h2"], "conclusion": conclusion, "rule": rule.name}
report = verifier.verify(problem, f"<summary>{json.dumps([action])}</summary>")
print(report.actions[0].explain())
