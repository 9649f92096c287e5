# SPDX-License-Identifier: Apache-2.0
"""Runs that a session has met: what TensorFlow looks up about fetches and feeds in every run is looked up once.

TensorFlow's own way is taken by the first run of each kind, and by all that is not plain: it knows every form of
fetches and feeds, and has the texts of its errors."""

import numpy as np
import tensorflow as tf
from tensorflow.python.client import session as sessions

from npu_device.session import iterations

PLAIN = (np.ndarray, np.generic, bool, int, float, list)  # values of feeds that NumPy alone understands
HANDLES = ("GetSessionHandle", "GetSessionHandleV2")


class _NotPlain(Exception):
    pass


def _structure(fetches):
    """Tells apart what is fetched, and in what form."""
    kind = type(fetches)
    if kind is list or kind is tuple:
        return (kind, *[_structure(one) for one in fetches])
    if kind is dict:
        return (kind, *[(name, _structure(one)) for name, one in fetches.items()])
    return _identity(fetches)


def _identity(element):
    if isinstance(element, (tf.Tensor, tf.Operation)):
        return id(element)
    raise _NotPlain


def key(fetches, feed_dict):
    """What a run is found by; None for one that is not plain."""
    try:
        return _structure(fetches), tuple([_identity(one) for one in feed_dict or ()])
    except _NotPlain:
        return None


class Prepared:
    """A run with these fetches and feeds, which has been run in TensorFlow's own way before."""

    def __init__(self, session, fetches, handler, feeds):
        self._held = fetches, feeds  # their ids are those of no other objects as long as they live
        self._takes = [_taken(one) for one in feeds]
        self._handler = handler
        self._names = [one.name for one in handler.targets()] + [one.op.name for one in handler.fetches()]
        self._part = session._npu.slice(feeds, handler.fetches(), handler.targets())

    def arrays(self, feed_dict):
        """The values of the feeds; None where one of them is not plain, or does not fit."""
        out = []
        for value, (dtype, sizes, low, high) in zip((feed_dict or {}).values(), self._takes, strict=True):
            if not isinstance(value, PLAIN) or (isinstance(value, int) and not low <= value <= high):
                return None
            array = np.asarray(value, dtype)
            if sizes is not None and array.shape != sizes and not _fits(array.shape, sizes):
                return None
            out.append(array)
        return out

    def run(self, session, arrays):
        times = iterations.count_of(session.graph, self._names)
        return self._handler.build_results(session, session._do_call(self._part.run, arrays, times))


def _taken(feed):
    """Type and shape of what a feed takes, and the bounds between which integers of Python fit into the type in any
    case."""
    dtype, shape = feed.dtype, feed.shape
    limits = (dtype.min, dtype.max) if dtype.is_integer else (0, 1) if dtype.is_bool else (-256, 256)
    return dtype.as_numpy_dtype, tuple(shape.as_list()) if shape.rank is not None else None, *limits


def _fits(given, sizes):
    return len(given) == len(sizes) and all(b is None or a == b for a, b in zip(given, sizes, strict=True))


def prepare(session, fetches, feed_dict):
    """The run, now that TensorFlow has taken it; None where a fetch is fed, or is a handle of what stays inside."""
    handler = sessions._FetchHandler(session.graph, fetches, {})
    fed = {id(one) for one in feed_dict or ()}
    if any(id(one) in fed or one.op.type in HANDLES for one in handler.fetches()):
        return None
    return Prepared(session, fetches, handler, list(feed_dict or ()))
