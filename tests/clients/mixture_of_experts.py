# SPDX-License-Identifier: Apache-2.0
"""Tiny mixtures of experts of transformers train and generate on the NPU as they do on the CPU, their experts through
torch_npu.npu_grouped_matmul. transformers is no dependency of ours.

    make clients   # all of them; it puts transformers into build/clients
    PYTHONPATH=build/clients python tests/clients/mixture_of_experts.py
"""

import torch
import torch_npu
import transformers
from transformers.integrations.moe import ALL_EXPERTS_FUNCTIONS

STEPS, TOKENS, VOCABULARY = 3, 12, 64
SIZES = {"vocab_size": VOCABULARY, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2,
         "num_attention_heads": 4, "num_key_value_heads": 2, "num_experts_per_tok": 2, "pad_token_id": 0,
         "bos_token_id": 1, "eos_token_id": None, "max_position_embeddings": 64}  # fmt: skip
QWEN = {"num_experts": 6, "moe_intermediate_size": 24, "decoder_sparse_step": 1}
MODELS = {
    "mixtral": ("MixtralConfig", {"num_local_experts": 6}),
    "qwen2_moe": ("Qwen2MoeConfig", {"shared_expert_intermediate_size": 40, **QWEN}),
    "qwen3_moe": ("Qwen3MoeConfig", {"head_dim": 8, "norm_topk_prob": True, **QWEN}),
}
calls = 0


def grouped(x, weight, ends, group_type=0):
    """Rows of x by the weight of their expert; along k (group type 2), a product for each expert."""
    global calls
    calls += 1
    return torch_npu.npu_grouped_matmul([x], [weight], group_list=ends, split_item=3, group_type=group_type,
                                        group_list_type=0)[0]  # fmt: skip


class GroupedLinear(torch.autograd.Function):
    """npu_grouped_matmul has no gradient of its own: its users write it, as two more of its calls."""

    @staticmethod
    def forward(ctx, x, weight, ends):
        ctx.save_for_backward(x, weight, ends)
        return grouped(x, weight.transpose(1, 2), ends)

    @staticmethod
    def backward(ctx, gradient):
        x, weight, ends = ctx.saved_tensors
        of_weight = grouped(gradient.T, x, ends, group_type=2)
        return grouped(gradient, weight, ends), of_weight, None


def experts_forward(self, hidden, top_k_index, top_k_weights):
    rows, where = torch_npu.npu_moe_token_permute(hidden, top_k_index.int())
    ordered = top_k_index.flatten().int().sort().values
    ends = torch_npu.npu_moe_compute_expert_tokens(ordered, self.num_experts).long()
    made = torch_npu.npu_swiglu(GroupedLinear.apply(rows, self.gate_up_proj, ends), dim=-1)
    made = GroupedLinear.apply(made, self.down_proj, ends)
    return torch_npu.npu_moe_token_unpermute(made, where, probs=top_k_weights.to(made.dtype))


ALL_EXPERTS_FUNCTIONS.register("npu_grouped_matmul", experts_forward)


def build(config, device, experts):
    config = type(config)(**config.to_dict())
    config._experts_implementation = experts
    torch.manual_seed(0)
    return transformers.AutoModelForCausalLM.from_config(config, attn_implementation="eager").to(device)


def train(model, batches):
    optimizer, losses = torch.optim.AdamW(model.parameters(), lr=1e-3), []
    for batch in batches:
        ids = batch.to(model.device)
        loss = model(input_ids=ids, labels=ids).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    return losses


def generate(model, prompt):
    model.eval()
    with torch.no_grad():
        return model.generate(prompt.to(model.device), attention_mask=torch.ones_like(prompt).to(model.device),
                              max_new_tokens=TOKENS, do_sample=False).cpu()  # fmt: skip


def main():
    print(f"torch {torch.__version__}, torch_npu {torch_npu.__version__}, transformers {transformers.__version__}")
    generator = torch.Generator().manual_seed(1)
    batches = [torch.randint(2, VOCABULARY, (2, 11), generator=generator) for _ in range(STEPS)]
    for name, (config, more) in MODELS.items():
        config, before = getattr(transformers, config)(**SIZES, **more), calls
        cpu, npu = build(config, "cpu", "eager"), build(config, "npu", "npu_grouped_matmul")
        npu.load_state_dict(cpu.state_dict())
        expected, losses = train(cpu, batches), train(npu, batches)
        off = max(abs(a - b) / abs(a) for a, b in zip(expected, losses, strict=True))
        assert off < 1e-5 * STEPS, f"{name}: losses {losses}, on the CPU {expected}"
        weights = max((a - b.cpu()).abs().max().item() for a, b in zip(cpu.parameters(), npu.parameters(), strict=True))
        prompt = batches[0][:, :5]
        assert torch.equal(generate(cpu, prompt), generate(npu, prompt)), f"{name}: other tokens than on the CPU"
        assert calls > before, f"{name}: no call of npu_grouped_matmul"
        print(f"{name}: {STEPS} steps, losses {losses[0]:.6f} to {losses[-1]:.6f}, at most {off:.1e} from the CPU's, "
              f"weights {weights:.1e}; {TOKENS} tokens equal; {calls - before} grouped products")  # fmt: skip


if __name__ == "__main__":
    main()
