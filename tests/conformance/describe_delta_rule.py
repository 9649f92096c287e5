# SPDX-License-Identifier: Apache-2.0
"""Cases of linear attention and of compressed keys (see case.py for the form)."""

import torch
from case import T, case

HALF = [torch.float16, torch.bfloat16]
FLOATS = [torch.float32, *HALF]


def integers(*numbers):
    return T(len(numbers), dtype=torch.int32, values=lambda _: torch.tensor(numbers, dtype=torch.int32))


def steps(query, key, value, beta, state, g, scale, tokens):
    """The states [heads, values, keys] behind each token, and what it gives."""
    share = value.shape[1] // query.shape[1]
    for t in tokens:
        q, k = (x[t].repeat_interleave(share, 0) for x in (query, key))
        state = state if g is None else state * g[t].double().exp()[:, None, None]
        step = (value[t] - torch.einsum("hvk,hk->hv", state, k)) * (1 if beta is None else beta[t][:, None])
        state = state + step[:, :, None] * k[:, None]
        yield t, state, torch.einsum("hvk,hk->hv", state, q) * scale


def recurrent(query, key, value, beta, state, actual_seq_lengths, ssm_state_indices, g, num_accepted_tokens, scale):
    made, begin = torch.zeros_like(value), 0
    for i, length in enumerate(actual_seq_lengths.tolist()):
        accepted = 1 if num_accepted_tokens is None else num_accepted_tokens[i]
        before = state[ssm_state_indices[begin + accepted - 1]].clone()
        for t, after, out in steps(query, key, value, beta, before, g, scale, range(begin, begin + length)):
            state[ssm_state_indices[t]], made[t] = after, out
        begin += length
    return state, made


def chunked(query, key, value, beta, initial_state, actual_seq_lengths, scale, g):
    made, begin, last = torch.full_like(value, 77), 0, []  # tokens of no sequence stay as they are
    for i, length in enumerate(actual_seq_lengths.tolist()):
        shape = (value.shape[1], value.shape[2], query.shape[2])
        last.append(torch.zeros(shape, dtype=torch.float64) if initial_state is None else initial_state[i])
        for t, after, out in steps(query, key, value, beta, last[i], g, scale, range(begin, begin + length)):
            last[i], made[t] = after, out
        begin += length
    return made, torch.stack(last)


def tokens_of(total, groups, heads, keys, values):
    """Small keys, as clients normalise them: the rule forgets, and nothing grows."""
    return {"query": T(total, groups, keys, low=-0.3, high=0.3), "key": T(total, groups, keys, low=-0.3, high=0.3),
            "value": T(total, heads, values)}  # fmt: skip


GATES = T(8, 4, low=-2, high=0, dtype=torch.float32), T(8, 4, low=0, high=1)
for g, beta in (GATES, (None, None)):
    for accepted in (None, integers(2, 1, 3)):
        case("aclnnRecurrentGatedDeltaRule", recurrent, FLOATS, **tokens_of(8, 2, 4, 20, 18), beta=beta,
             state=T(9, 4, 18, 20), actual_seq_lengths=integers(3, 2, 3),
             ssm_state_indices=integers(8, 0, 1, 3, 2, 5, 6, 4), g=g, gk=None, num_accepted_tokens=accepted, scale=0.25,
             layouts=("plain", "sliced"))  # fmt: skip
    for lengths in ((3, 5), (8, 0), (2, 1)):
        for before in (T(2, 4, 18, 20), None):
            case("aclnnChunkGatedDeltaRule", chunked, FLOATS, **tokens_of(8, 2, 4, 20, 18), beta=beta,
                 initial_state=before, actual_seq_lengths=integers(*lengths), scale=0.25, g=g,
                 layouts=("plain", "sliced"))  # fmt: skip

# --- compressed keys ------------------------------------------------------------------------------------------------


def blocks_of(actual_seq_len, block, stride):
    begin = 0
    for end in actual_seq_len:
        yield from range(begin, end - block + 1, stride)
        begin = end


def compressed(input, weight, actual_seq_len, compress_block_size, compress_stride):
    begins = blocks_of(actual_seq_len, compress_block_size, compress_stride)
    parts = [(input[b : b + compress_block_size] * weight[..., None]).sum(0) for b in begins]
    return torch.stack(parts)


def compressed_grad(grad, input, weight, actual_seq_len, compress_block_size, compress_stride):
    leaves = [input.clone().requires_grad_(), weight.clone().requires_grad_()]
    return torch.autograd.grad(compressed(*leaves, actual_seq_len, compress_block_size, compress_stride), leaves, grad)


for ends, block, stride in (([40, 52, 100], 16, 16), ([0, 33, 100], 32, 16), ([16], 16, 16)):
    count = len(list(blocks_of(ends, block, stride)))
    values = {"input": T(ends[-1], 3, 16), "weight": T(block, 3), "actual_seq_len": ends, "layout": "TND",
              "compress_block_size": block, "compress_stride": stride, "actual_seq_len_type": 0}  # fmt: skip
    layouts = ("plain", "transposed", "sliced")
    case("aclnnNsaCompress", compressed, HALF, layouts=layouts, terms="absolute", **values)
    case("aclnnNsaCompressGrad", compressed_grad, HALF, layouts=layouts, terms="absolute", grad=T(count, 3, 16),
         **values)  # fmt: skip


def into_cache(input, weight, slot_mapping, actual_seq_len, block_table, compress_block_size, compress_stride, cache):
    begin = 0
    for i, length in enumerate(actual_seq_len):
        # Pages, or tokens one behind the other.
        tokens = input[begin : begin + length] if block_table is None else input[block_table[i].long()].flatten(0, 1)
        begin += length
        if length >= compress_block_size and (length - compress_block_size) % compress_stride == 0:
            last = tokens[length - compress_block_size : length]
            cache[slot_mapping[i]] = (last * weight[..., None]).sum(0)
    return cache


TABLE = T(4, 2, dtype=torch.int32, values=lambda _: torch.tensor([[5, 0], [1, 2], [3, 4], [2, 5]], dtype=torch.int32))
for ends in ([32, 48, 31, 100], [64, 33, 0, 16]):
    for table, given in ((None, (sum(ends), 3, 16)), (TABLE, (6, 64, 3, 16))):
        values = {"input": T(*given), "weight": T(32, 3), "block_table": table, "actual_seq_len": ends, "layout": "TND",
                  "compress_block_size": 32, "compress_stride": 16, "actual_seq_len_type": 1,
                  "page_block_size": 64}  # fmt: skip
        case("aclnnNsaCompressWithCache", into_cache, HALF, slot_mapping=integers(2, 0, 1, 4), cache=T(6, 3, 16),
             layouts=("plain", "sliced"), terms="absolute", **values)  # fmt: skip
