"""Weights of a model with adapters, sent to a real engine: ``python engine.py MODEL``; used by ``test_engine``.

Out, on the last line: whether the engine took the names that OpenRLHF sends, those that we send, and whether it then
writes what ``transformers`` writes with the adapters. A process of its own, as an engine does not end with a test.
"""

from __future__ import annotations

import json
import sys

from training.openrlhf.cpu import install

install()

import torch  # noqa: E402 (only now)
from peft import LoraConfig, get_peft_model  # noqa: E402
from transformers import AutoModelForCausalLM  # noqa: E402
from vllm import LLM, SamplingParams  # noqa: E402

from training.openrlhf.actor import merged  # noqa: E402

PROMPT = [5 + 3 * n % 250 for n in range(20)]
TARGETS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]


def main() -> None:
    model = sys.argv[1]
    torch.manual_seed(0)
    base = AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32)
    policy = get_peft_model(base, LoraConfig(r=8, lora_alpha=16, target_modules=TARGETS, task_type="CAUSAL_LM"))
    for name, weight in policy.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(weight, std=0.2)
    engine = LLM(model, dtype="float32", enforce_eager=True, max_model_len=128, gpu_memory_utilization=0.1)
    runner = engine.llm_engine.model_executor.driver_worker.worker.model_runner
    before = written(engine)
    runner.reload_weights(weights_iterator=iter([(name, weight.data) for name, weight in merged(policy)]))
    after = written(engine)
    told = policy.generate(torch.tensor([PROMPT]), max_new_tokens=12, do_sample=False)[0, len(PROMPT) :].tolist()
    stock = [(name, weight.data) for name, weight in policy.named_parameters()]
    try:
        runner.reload_weights(weights_iterator=iter(stock))  # the last thing: half of it may have been done
        refused = False
    except (KeyError, ValueError) as error:
        sys.stdout.write(f"{type(error).__name__}: {error}\n")
        refused = True
    sys.stdout.write("\n" + json.dumps({"refused": refused, "before": before, "after": after, "told": told}) + "\n")


def written(engine: LLM) -> list[int]:
    greedy = SamplingParams(temperature=0.0, max_tokens=12, ignore_eos=True)
    return list(engine.generate([{"prompt_token_ids": PROMPT}], greedy, use_tqdm=False)[0].outputs[0].token_ids)


if __name__ == "__main__":
    main()
