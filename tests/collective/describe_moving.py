# SPDX-License-Identifier: Apache-2.0
"""Conformance cases of the collectives that move elements from one rank to all, or from all to each."""

from ctypes import c_uint32, c_uint64

import numpy
from conform_job import Job, case, with_gaps, words


@case(in_place=(True,))  # it has one buffer
def broadcast(me, count):
    root = me.number % me.size

    def call(send, recv):
        me.library.HcclBroadcast(recv, c_uint64(count), me.kind, c_uint32(root), *me.tail)

    return Job(me.data(me.rank, 0, count), count, me.data(root, 0, count), call)


@case(in_place=(False, True))
def all_gather(me, count):
    def call(send, recv):
        me.library.HcclAllGather(send, recv, c_uint64(count), me.kind, *me.tail)

    want = numpy.concatenate([me.data(rank, 0, count) for rank in range(me.size)])
    return Job(me.data(me.rank, 0, count), count * me.size, want, call, me.rank * count)


@case(in_place=(False, True))
def all_gather_v(me, count):
    counts = [count + rank % 2 for rank in range(me.size)]
    offsets, mine = with_gaps(counts), counts[me.rank]

    def call(send, recv):
        tail = (me.kind, *me.tail)
        me.library.HcclAllGatherV(send, c_uint64(mine), recv, words(counts), words(offsets), *tail)

    want = me.blank(offsets[-1] + counts[-1])
    for rank, (part, at) in enumerate(zip(counts, offsets, strict=True)):
        want[at : at + part] = me.data(rank, 0, part)
    return Job(me.data(me.rank, 0, mine), want.size, want, call, offsets[me.rank])


@case(in_place=(False, True))
def scatter(me, count):
    root = me.number % me.size

    def call(send, recv):
        source = send if me.rank == root else None
        me.library.HcclScatter(source, recv, c_uint64(count), me.kind, c_uint32(root), *me.tail)

    want = me.data(root, me.rank * count, count)
    return Job(me.data(me.rank, 0, count * me.size), count, want, call, me.rank * count)
