"""Train a model in TRL, with credit for each action.

Needs: pip install 'proof-r1-formal[train]'. Without a folder, a tiny model with random weights shows that all runs.

    python examples/train_trl.py FOLDER_OF_A_MODEL
"""

import sys
import tempfile
from pathlib import Path

from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from proof_r1_formal import read_problems
from proof_r1_formal.integrations.datasets import problems_dataset
from proof_r1_formal.integrations.trl import ProofConfig, ProofTrainer


def tiny_model() -> tuple[LlamaForCausalLM, PreTrainedTokenizerFast]:
    """A model of two layers with random weights, and a tokenizer of single bytes."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {token: number for number, token in enumerate(["<pad>", "<eos>", *letters])}
    plain = Tokenizer(models.BPE(vocabulary, []))
    plain.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    plain.decoder = decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=plain, pad_token="<pad>", eos_token="<eos>")
    tokenizer.chat_template = "{% for message in messages %}{{ message['content'] }}\n\n{% endfor %}"
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        max_position_embeddings=8192,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        bos_token_id=None,
    )
    return LlamaForCausalLM(config), tokenizer


dataset = problems_dataset(read_problems(Path(__file__).parent / "problems.jsonl").values())
if len(sys.argv) > 1:
    model, tokenizer = AutoModelForCausalLM.from_pretrained(sys.argv[1]), AutoTokenizer.from_pretrained(sys.argv[1])
    settings = ProofConfig(output_dir="out", num_generations=8, per_device_train_batch_size=8, temperature=0.8)
else:
    folder = Path(tempfile.mkdtemp())
    model, tokenizer = tiny_model()
    model.save_pretrained(folder / "model")  # TRL loads the reference from the folder of the model
    model = LlamaForCausalLM.from_pretrained(folder / "model")
    settings = ProofConfig(
        output_dir=str(folder / "run"),
        max_steps=2,
        per_device_train_batch_size=4,
        num_generations=2,
        max_completion_length=16,
        logging_steps=1,
        save_strategy="no",
        report_to="none",
        use_cpu=True,
        bf16=False,
    )
trainer = ProofTrainer(model, args=settings, train_dataset=dataset, processing_class=tokenizer)
trainer.train()
signals = [entry["proof/signal"] for entry in trainer.state.log_history if "proof/signal" in entry]
print(f"mean signal of the actions of the last logged batch: {signals[-1]}")
