# SPDX-License-Identifier: Apache-2.0
"""Operators that move elements, or make them of nothing."""

import numpy as np

from anynpu.self_check.element import UnknownError


def embedding_gradient(f):
    grad = f.grad.reshape(-1, f.grad.shape[-1])
    indices = f.indices.reshape(-1)
    out = np.zeros((f.num_weights, grad.shape[1]))
    used = indices != (-1 if f.padding_idx is None else f.padding_idx)
    scale = (
        1 / np.bincount(indices, minlength=f.num_weights)[indices] if f.scale_grad_by_freq else np.ones(len(indices))
    )
    np.add.at(out, indices[used], (grad * scale[:, None])[used])
    return out


def index_select(f):
    if f.batch_dims:
        raise UnknownError("there is no reference for a choice in each batch")
    return np.take(f.self, f.index, f.dim)


def add_rows(f):
    """Sums of rows, one for each number in `index`."""
    if f.reduction not in (1, None):
        raise UnknownError(f"there is no reference for segments by {f.reduction}")
    out = np.zeros(f.shapes["out"][0])
    index = f.index.reshape(-1)
    seen = (index >= 0) & (index < len(out))
    np.add.at(out, index[seen], f.self.reshape(len(index), *out.shape[1:])[seen])
    return out


def unique_in_order(f):
    x = f.self.reshape(-1)
    values, first, inverse = np.unique(x, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return {
        "y": values[order],
        "inverse": place[inverse.reshape(-1)],
        "counts": np.bincount(place[inverse.reshape(-1)]),
    }


def scatter_nd_update(f):
    if f.reduction not in (0, 1, None):
        raise UnknownError(f"there is no reference for updates of kind {f.reduction}")
    out, at = f.self.copy(), tuple(np.moveaxis(f.indices, -1, 0))
    if f.reduction == 1:
        np.add.at(out, at, f.updates * (1 if f.alpha is None else f.alpha))
    else:
        out[at] = f.updates
    return out


REFERENCES = {
    "scatter_nd_update": scatter_nd_update,
    "index_select": index_select,
    "segment": add_rows,
    "unique_in_order": unique_in_order,
    "repeat": lambda f: np.tile(f.self, f.repeats),
    "triu": lambda f: np.triu(f.self, f.diagonal),
    "tril": lambda f: np.tril(f.self, f.diagonal),
    "stack": lambda f: np.stack(f.tensors, f.dim),
    "arange": lambda f: f.start + f.step * np.arange(f.shapes["out"][0][0]),
    "copy": lambda f: f.self,
    "cat": lambda f: np.concatenate([one for one in f.tensors if one.shape != (0,)] or f.tensors, f.dim),
    "permute": lambda f: f.self.transpose(f.dims),
    "embedding_dense_backward": embedding_gradient,
}
