"""Use rules of your own: Lean's kernel checks their theorems, and then an answer that applies one.

The rules stand in own.toml. Needs Lean: pip install 'proof-r1-formal[kernel]', or elan. The same from a shell:

    proof-r1 theories check --rules own.toml --write
    proof-r1 certify --rules own.toml -p problems.jsonl -c completions.jsonl

Run this with: python examples/own_rule.py
"""

import json
import shutil
import tempfile
from pathlib import Path

from proof_r1_formal import Completion, Problem, Verifier, parse_formula, three_way_options
from proof_r1_formal.assistants.certify import certify_many
from proof_r1_formal.assistants.lean import LeanKernel
from proof_r1_formal.assistants.theories import check_schemata, manifest_bytes, manifest_of, schema_theorem
from proof_r1_formal.data.problem import Premise
from proof_r1_formal.rules.catalogue import read_catalogue

kernel = LeanKernel.find()
if kernel is None:
    raise SystemExit("Lean is not installed: pip install 'proof-r1-formal[kernel]'")

with tempfile.TemporaryDirectory() as folder:
    file = shutil.copy(Path(__file__).with_name("own.toml"), folder)
    own = read_catalogue(Path(file))
    judgements = check_schemata(kernel, own)
    for schema in own.rules[-2].schemata + own.rules[-1].schemata:
        said = "accepts" if judgements[schema.name].accepted else f"rejects ({judgements[schema.name].reason})"
        print(f"{kernel.version} {said} {schema_theorem(schema).statement.removeprefix(': ')}")
    assert own.manifest is not None
    own.manifest.write_bytes(manifest_bytes(manifest_of(own, kernel.version, judgements)))
    verifier = Verifier(rules=own)  # refuses a schema that no kernel has accepted

rule = own.rules[-2]
premises = tuple([Premise(f"h{n}", parse_formula(text)) for n, text in enumerate(rule.example.dependencies, 1)])
problem = Problem("lawn/1", premises, three_way_options(parse_formula(rule.example.conclusion)))
step = {"id": "s1", "dependencies": ["h1", "h2"], "conclusion": rule.example.conclusion, "rule": rule.name}
last = {**step, "id": "h_goal_true", "dependencies": ["s1"], "rule": "GOAL_BINDING"}
completion = Completion(problem_id=problem.id, completion=f"<summary>{json.dumps([step, last])}</summary>")
[(_, judged)] = certify_many(verifier, {problem.id: problem}, [completion], kernel)
report = judged.certification.report
print(report.actions[0].explain())
print(f"{report.rules}: {'accepted' if judged.is_theorem else 'rejected'} as a theorem")
