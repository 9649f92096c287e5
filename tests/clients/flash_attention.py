# SPDX-License-Identifier: Apache-2.0
"""transformers with attn_implementation="flash_attention_2" on the NPU, against eager attention on the CPU.

    make clients   # all of them; it puts transformers into build/clients
    PYTHONPATH=build/clients python tests/clients/flash_attention.py

Tiny models of random weights, samples of several lengths in one padded batch. Each model takes three AdamW steps on
both sides from the same weights; the losses, the logits of real tokens and the gradients must agree. Decoders then read
the samples one behind the other without padding, and write on from prompts padded at the left; the tokens must be
equal. transformers hands the NPU packed sequences (layout TND).
Versions it was run with: transformers 5.23.0, torch 2.13.0, torch-npu 2.13.0.
"""

import copy
import sys

import torch
import torch_npu  # noqa: F401 - makes the device npu
import transformers

SIZES = {"vocab_size": 96, "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 80}
GROUPED = SIZES | {"num_key_value_heads": 2, "max_position_embeddings": 64}
MODELS = {
    "bert": (transformers.BertForMaskedLM, transformers.BertConfig(**SIZES, hidden_dropout_prob=0,
             attention_probs_dropout_prob=0)),
    "gpt2": (transformers.GPT2LMHeadModel, transformers.GPT2Config(vocab_size=96, n_embd=64, n_layer=2, n_head=4,
             resid_pdrop=0, embd_pdrop=0, attn_pdrop=0)),
    "llama": (transformers.LlamaForCausalLM, transformers.LlamaConfig(**GROUPED)),
    "qwen2": (transformers.Qwen2ForCausalLM, transformers.Qwen2Config(**GROUPED)),
    "qwen3": (transformers.Qwen3ForCausalLM, transformers.Qwen3Config(**GROUPED, head_dim=16)),
    "mistral": (transformers.MistralForCausalLM, transformers.MistralConfig(**GROUPED)),
    "mixtral": (transformers.MixtralForCausalLM, transformers.MixtralConfig(**GROUPED, num_local_experts=4)),
}  # fmt: skip
LENGTHS = [17, 5, 12, 1]
# float16, which flash attention asks for, keeps 11 bits; what 3 steps make of that is a few roundings.
CLOSE = {torch.float16: 2e-2, torch.bfloat16: 1e-1}


def batch(left):
    g = torch.Generator().manual_seed(1)
    ids = torch.randint(3, 96, (len(LENGTHS), max(LENGTHS)), generator=g)
    mask = torch.arange(max(LENGTHS)) < torch.tensor(LENGTHS).unsqueeze(1)
    mask = mask.flip(1) if left else mask
    return torch.where(mask, ids, 0), mask.long()


def steps(model, device, dtype):
    """Losses, logits of real tokens and gradients of three steps."""
    ids, mask = (t.to(device) for t in batch(left=False))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    losses, logits, gradients = [], [], []
    for _ in range(3):
        optimizer.zero_grad()
        with torch.autocast(device, dtype):
            out = model(input_ids=ids, attention_mask=mask, labels=torch.where(mask.bool(), ids, -100))
        out.loss.backward()
        gradients.append({n: p.grad.cpu().double() for n, p in model.named_parameters() if p.grad is not None})
        losses.append(out.loss.item())
        logits.append(out.logits[mask.bool()].detach().cpu().double())
        optimizer.step()
    return losses, logits, gradients


def far(got, want):
    return ((got - want).norm() / want.norm().clamp_min(1e-6)).item()


def train(name, eager, flash, dtype):
    theirs, ours = steps(eager, "cpu", dtype), steps(flash, "npu", dtype)
    losses = max(abs(a - b) / abs(b) for a, b in zip(ours[0], theirs[0], strict=True))
    logits = max(far(a, b) for a, b in zip(ours[1], theirs[1], strict=True))
    whole = [torch.cat([g[n].flatten() for n in sorted(g)]) for g in (ours[2][0], theirs[2][0])]
    print(f"{name:8} {str(dtype):15} losses {losses:.1e}  logits {logits:.1e}  gradients {far(*whole):.1e}", end="  ")
    return max(losses, logits, far(*whole)) < CLOSE[dtype]


def packed(eager, flash):
    """Logits of samples in one row, whose borders the caller tells. (Without them transformers finds the borders by the
    positions, with a sum of truth values, which aclnnCumsum does not take.)"""
    ids, mask = batch(left=False)
    row = ids[mask.bool()].unsqueeze(0).npu()
    positions = torch.cat([torch.arange(n) for n in LENGTHS]).unsqueeze(0).npu()
    ends = torch.tensor([0, *LENGTHS]).cumsum(0).int().npu()
    borders = {"cu_seq_lens_q": ends, "cu_seq_lens_k": ends, "max_length_q": max(LENGTHS), "max_length_k": max(LENGTHS)}
    with torch.no_grad():
        wanted = eager(input_ids=ids, attention_mask=mask).logits[mask.bool()].double()
        got = flash.half()(input_ids=row, attention_mask=torch.ones_like(row), position_ids=positions, **borders)
    got = got.logits[0].cpu().double()
    print(f"packed {far(got, wanted):.1e}", end="  ")
    return far(got, wanted) < CLOSE[torch.float16]


def write(eager, flash):
    """Greedy tokens behind prompts padded at the left, in float16 on the NPU and float32 on the CPU."""
    ids, mask = batch(left=True)
    options = {"max_new_tokens": 8, "do_sample": False, "pad_token_id": 0}
    with torch.no_grad():
        wanted = eager.generate(input_ids=ids, attention_mask=mask, **options)
        got = flash.half().generate(input_ids=ids.npu(), attention_mask=mask.npu(), **options).cpu()
    print(f"tokens {(got == wanted).sum().item()} of {wanted.numel()}", end="  ")
    return torch.equal(got, wanted)


def check(name, dtype):
    kind, config = MODELS[name]
    torch.manual_seed(0)
    eager = kind._from_config(copy.deepcopy(config), attn_implementation="eager")
    flash = kind._from_config(copy.deepcopy(config), attn_implementation="flash_attention_2", dtype=torch.float32)
    flash.load_state_dict(eager.state_dict())
    flash = flash.npu()
    good = train(name, eager.train(), flash.train(), dtype)
    if name != "bert":
        flash.load_state_dict(eager.state_dict())
        good = packed(eager.eval(), flash.eval()) and good
        good = write(eager, flash) and good
    print("ok" if good else "DIFFERS", flush=True)
    return good


def main():
    print("transformers", transformers.__version__, "torch", torch.__version__, "torch_npu", torch_npu.__version__)
    transformers.logging.set_verbosity_error()
    names = sys.argv[1:] or MODELS
    results = [check(name, dtype) for name in names for dtype in (torch.float16, torch.bfloat16)]
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
