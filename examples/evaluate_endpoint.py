"""Ask a model behind an OpenAI-compatible endpoint for proofs, and score them.

Needs: pip install 'proof-r1-formal[models]'. The key, if the endpoint needs one, is in OPENAI_API_KEY.

    python examples/evaluate_endpoint.py http://localhost:8000/v1 MODEL
"""

import asyncio
import os
import sys
from pathlib import Path

from proof_r1_formal import Completion, evaluate_metrics, read_problems, verify_many
from proof_r1_formal.models.chat import Sampling
from proof_r1_formal.models.endpoint import Endpoint
from proof_r1_formal.models.prompts import messages

if len(sys.argv) != 3:
    sys.exit(__doc__)
url, model = sys.argv[1:]
problems = read_problems(Path(__file__).parent / "problems.jsonl")


async def ask() -> list[Completion]:
    async with Endpoint(url, model, key=os.environ.get("OPENAI_API_KEY")) as endpoint:
        sampling = Sampling(temperature=0.8, top_p=0.95, max_tokens=4096)
        replies = [endpoint.reply(messages(problem), sampling) for problem in problems.values()]
        return [
            Completion(problem_id=problem_id, completion=reply.text)
            for problem_id, reply in zip(problems, await asyncio.gather(*replies), strict=True)
        ]


reports = list(verify_many(problems, asyncio.run(ask())))
for report in reports:
    print(report.problem_id, "right" if report.answer_correct else "wrong", f"verified={report.verified}")
for measure, estimate in evaluate_metrics(problems, reports).overall.scores.items():
    print(f"{measure}: {estimate.value}")
