# SPDX-License-Identifier: Apache-2.0
"""Products of matrices, and attention."""

import numpy as np

from anynpu.self_check.element import UnknownError


def number(value, otherwise=1):
    return otherwise if value is None else value


def with_sum(addend, product, f):
    """beta == 0 leaves the addend unread."""
    beta, alpha = number(f.beta), number(f.alpha)
    return alpha * product if addend is None or beta == 0 else beta * addend + alpha * product


def heads(x, layout, count):
    """As batch, heads, sequence, width."""
    if layout == "BNSD":
        return x
    if layout == "BSND":
        return x.transpose(0, 2, 1, 3)
    if layout not in ("BSH", "SBH"):
        raise UnknownError(f"there is no reference for attention in layout {layout}")
    split = x.reshape(*x.shape[:2], count, -1)
    return split.transpose(0, 2, 1, 3) if layout == "BSH" else split.transpose(1, 2, 0, 3)


def folded(x, layout):
    if layout == "BNSD":
        return x
    return x.transpose(2, 0, 1, 3) if layout == "SBH" else x.transpose(0, 2, 1, 3)


class Attention:
    UNUSUAL = ("query_rope", "key_rope", "drop_mask", "padding_mask", "sink", "prefix", "actual_seq_qlen")

    def __init__(self, f):
        for name in self.UNUSUAL:
            if getattr(f, name) is not None and np.size(getattr(f, name)):
                raise UnknownError(f"there is no reference for attention with {name}")
        self.f, self.layout = f, f.input_layout
        self.q = heads(f.query, self.layout, f.head_num)
        width = self.q.shape[3]
        kv = f.key.shape[2] // width if f.key.ndim == 3 else 0
        self.k, self.v = (heads(x, self.layout, kv) for x in (f.key, f.value))
        self.group = self.q.shape[1] // self.k.shape[1]
        self.k, self.v = (x.repeat(self.group, 1) for x in (self.k, self.v))
        scores, bias = self.q @ self.k.swapaxes(2, 3), 0 if f.pse is None or f.pse.size == 0 else f.pse
        self.scores = f.scale * scores + bias if f.pse_type == 0 else f.scale * (scores + bias)
        self.hidden = self.masked()

    def masked(self):
        mask, (rows, columns) = self.f.atten_mask, self.scores.shape[2:]
        if self.f.sparse_mode not in (0, 1, 2, 3):
            raise UnknownError(f"there is no reference for attention with sparse_mode {self.f.sparse_mode}")
        if self.f.sparse_mode in (2, 3) and (self.f.mode_implies_mask or mask is not None):
            return np.triu(np.ones((rows, columns), bool), 1 + (columns - rows) * (self.f.sparse_mode == 3))
        if mask is None or mask.size == 0:
            return None
        if self.f.sparse_mode == 0 and (self.f.pre_tokens < rows + columns or self.f.next_tokens < columns):
            raise UnknownError("there is no reference for attention in a band")
        return mask != 0

    def weights(self):
        """Probabilities, the largest score and the sum of each row."""
        scores = self.scores if self.hidden is None else np.where(self.hidden, -np.inf, self.scores)
        top = scores.max(-1, keepdims=True)
        e = np.exp(scores - np.where(np.isinf(top), 0, top))
        total = e.sum(-1, keepdims=True)
        return np.where(total > 0, e / total, 0.0), top, total

    def summed(self, x):
        """Of heads that share keys."""
        b, n, s, d = x.shape
        return x.reshape(b, n // self.group, self.group, s, d).sum(2)


def flash_attention(f):
    one = Attention(f)
    p, top, total = one.weights()
    statistics = {"softmax_max": top, "softmax_sum": total} if f.shapes.get("softmax_max", [[0]])[0][-1:] == [8] else {}
    eight = {name: np.broadcast_to(x, (*x.shape[:3], 8)) for name, x in statistics.items()}
    return {"attention_out": folded(p @ one.v, one.layout), **eight}


def flash_attention_grad(f):
    one = Attention(f)
    p, _, _ = one.weights()
    dy = heads(f.dy, one.layout, f.head_num)
    out = heads(f.attention, one.layout, f.head_num)
    of_scores = p * (dy @ one.v.swapaxes(2, 3) - (dy * out).sum(-1, keepdims=True))
    ds = of_scores * f.scale
    dk, dv = one.summed(ds.swapaxes(2, 3) @ one.q), one.summed(p.swapaxes(2, 3) @ dy)
    made = {name: folded(x, one.layout) for name, x in (("dq", ds @ one.k), ("dk", dk), ("dv", dv))}
    if f.pse is not None and f.pse.size and "dpse" in f.shapes:
        if f.shapes["dpse"][0] != list(ds.shape):
            raise UnknownError("there is no reference for the gradient of an attention's bias by distance")
        made["dpse"] = of_scores if f.pse_type == 0 else ds  # scaled where the bias was
    return made


REFERENCES = {
    **{name: lambda f: f.self @ f.mat2 for name in ("mm", "matmul", "batch_matmul")},
    "mv": lambda f: f.self @ f.vec,
    "dot": lambda f: f.self @ f.other,
    "addmm": lambda f: with_sum(f.self, f.mat1 @ f.mat2, f),
    "baddbmm": lambda f: with_sum(f.self, f.batch1 @ f.batch2, f),
    "product_sum": lambda f: f.out + f.left @ f.right,
    "flash_attention": flash_attention,
    "flash_attention_grad": flash_attention_grad,
}
