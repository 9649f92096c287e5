# SPDX-License-Identifier: Apache-2.0
"""Cases of what decoding calls between its steps: filters of logits, positions, caches that grow (see case.py)."""

import time

import torch
from case import T, case

FLOATS = [torch.float32, torch.float16, torch.bfloat16]
ROWS, VOCABULARY = 5, 700


def top_k_top_p(logits, p, k):
    """The formula of the page, step by step."""
    values, order = torch.sort(logits, dim=-1, stable=True)
    if k is not None:
        threshold = values.gather(1, (VOCABULARY - k.long().clamp(max=VOCABULARY)).unsqueeze(1))
        values = values.masked_fill(values < threshold, -torch.inf)
    if p is not None:
        drop = values.softmax(-1).cumsum(-1) <= 1 - p.unsqueeze(1)
        drop[:, -1] = False
        values = values.masked_fill(drop, -torch.inf)
    return torch.empty_like(logits).scatter_(1, order, values)


def counts(*numbers):
    return T(len(numbers), dtype=torch.int32, values=lambda _: torch.tensor(numbers, dtype=torch.int32))


# A p from 0 to 1: nothing but the largest, and everything; wide logits make rows with few candidates.
SHARES = T(ROWS, values=lambda _: torch.tensor([0.5, 0.9, 0.0, 1.0, 0.33], dtype=torch.float64))
for k in (None, counts(1, 7, 50, 700, 1024)):
    for p in (None, SHARES):
        for low, high in ((-2, 2), (-20, 20)):
            if k is not None or p is not None:
                case("aclnnApplyTopKTopP", top_k_top_p, FLOATS, logits=T(ROWS, VOCABULARY, low=low, high=high), p=p,
                     k=k, layouts=("plain", "transposed", "sliced"))  # fmt: skip


def equals(_generator):
    """Equals of the k-th largest stay, also where p cuts: then the first of them go."""
    return torch.tensor([3.0, 1, 3, 2, 1, 3, 2]).repeat(ROWS, VOCABULARY // 7)


case("aclnnApplyTopKTopP", top_k_top_p, [torch.float32], logits=T(ROWS, VOCABULARY, values=equals), p=SHARES,
     k=counts(1, 3, 301, 699, 700), layouts=("plain",))  # fmt: skip

# --- positions and slots --------------------------------------------------------------------------------------------


def advance_step(input_tokens, sampled_token_ids, input_positions, seq_lens, slot_mapping, block_tables, num_queries,
                 block_size):  # fmt: skip
    input_tokens[:num_queries] = sampled_token_ids.flatten()
    input_positions[:num_queries] = seq_lens[:num_queries]
    seq_lens[:num_queries] += 1
    for i in range(num_queries):
        position = input_positions[i]
        slot_mapping[i] = block_tables[i, position // block_size] * block_size + position % block_size
    input_tokens[num_queries:], input_positions[num_queries:], slot_mapping[num_queries:] = 0, 0, -1
    return input_tokens, input_positions, seq_lens, slot_mapping


for seqs, queries, block in ((6, 4, 8), (3, 3, 1), (5, 1, 16)):
    numbers = T(seqs, dtype=torch.int64, low=0, high=30)
    case("aclnnAdvanceStep", advance_step, [torch.int64], layouts=("plain", "sliced"), input_tokens=numbers,
         sampled_token_ids=T(queries, 1, dtype=torch.int64, low=0, high=900), input_positions=numbers, seq_lens=numbers,
         slot_mapping=numbers, block_tables=T(seqs, 30 // block + 1, dtype=torch.int64, low=0, high=50), num_seqs=seqs,
         num_queries=queries, block_size=block)  # fmt: skip

# --- lists of caches ------------------------------------------------------------------------------------------------


def scatter_list(self, indice, updates, axis):
    for member, at, update in zip(self, indice.tolist(), updates, strict=True):
        member.narrow(axis, at, update.shape[axis]).copy_(update)
    return [self]


KINDS = [*FLOATS, torch.int32, torch.int8, torch.uint8]
for shape, axis in (((4, 9, 16), -2), ((4, 16, 9), -1), ((2, 3, 9, 8), 2)):
    for length in (1, 3):
        update = [3, *shape]
        update[axis if axis < 0 else axis + 1] = length
        case("aclnnScatterList", lambda self, indice, updates, axis: (scatter_list(self, indice, updates, axis)[0],),
             KINDS, self=[T(*shape)] * 3, indice=counts(0, 6, 2), updates=T(*update), mask=None, reduce="update",
             axis=axis, layouts=("plain", "sliced"))  # fmt: skip


def slept(inputs, outputs):
    assert time.monotonic() - slept.since >= 0.02


def cycles(_dtype):
    slept.since = time.monotonic()
    return [20_000_000]


case("aclnnSleep", None, [torch.float32], cycles=cycles, check=slept, layouts=("plain",))
