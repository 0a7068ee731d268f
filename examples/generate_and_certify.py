"""Generate problems, verify their proofs, and write each answer as a theorem for Lean.

The Lean kernel checks the theorems if it is installed: pip install 'proof-r1-formal[kernel]', or elan.

    python examples/generate_and_certify.py theorems
"""

import sys
from itertools import islice
from pathlib import Path

from proof_r1_formal import Completion, Verifier
from proof_r1_formal.assistants.certify import certify_many
from proof_r1_formal.assistants.lean import LeanKernel
from proof_r1_formal.assistants.lean_file import file_stem, lean_file
from proof_r1_formal.generate.problems import GeneratorSettings, generate_problems
from proof_r1_formal.proof.trajectory import completion

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "theorems")
folder.mkdir(exist_ok=True)
settings = GeneratorSettings(seed=1, difficulty="easy", answers=("True", "False"))
problems = {one.problem.id: one.problem for one in islice(generate_problems(settings), 3)}
completions = [
    Completion(problem_id=name, completion=completion(problem, problem.proofs[0])) for name, problem in problems.items()
]
kernel = LeanKernel.find()
for given, judged in certify_many(Verifier(), problems, completions, kernel):
    certificate = judged.certification.certificate
    assert certificate is not None, judged.certification.reason
    path = folder / f"{file_stem(given.problem_id, 0)}.lean"
    path.write_text(lean_file(certificate, problems[given.problem_id], standalone=True), encoding="utf-8")
    checked = "not checked" if kernel is None else "accepted" if judged.is_theorem else "; ".join(judged.faults())
    print(f"{given.problem_id}: {problems[given.problem_id].question} {path}: {checked}")
