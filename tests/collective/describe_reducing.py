# SPDX-License-Identifier: Apache-2.0
"""Conformance cases of the collectives that reduce."""

from ctypes import c_int32, c_uint32, c_uint64

from conform_job import Job, case, with_gaps, words


@case(in_place=(False, True))
def all_reduce(me, count):
    def call(send, recv):
        me.library.HcclAllReduce(send, recv, c_uint64(count), me.kind, c_int32(me.op), *me.tail)

    return Job(me.data(me.rank, 0, count), count, me.reduced(0, count), call)


@case(in_place=(False, True))
def reduce(me, count):
    root, own = me.number % me.size, me.data(me.rank, 0, count)

    def call(send, recv):
        operation = c_int32(me.op), c_uint32(root)
        me.library.HcclReduce(send, recv, c_uint64(count), me.kind, *operation, *me.tail)

    untouched = own if me.in_place else me.blank(count)
    return Job(own, count, me.reduced(0, count) if me.rank == root else untouched, call)


@case(in_place=(False, True))
def reduce_scatter(me, count):
    def call(send, recv):
        me.library.HcclReduceScatter(send, recv, c_uint64(count), me.kind, c_int32(me.op), *me.tail)

    at = me.rank * count
    return Job(me.data(me.rank, 0, count * me.size), count, me.reduced(at, count), call, at)


@case(in_place=(False, True))
def reduce_scatter_v(me, count):
    counts = [count + rank % 2 for rank in range(me.size)]
    offsets, mine = with_gaps(counts), counts[me.rank]

    def call(send, recv):
        tail = (me.kind, c_int32(me.op), *me.tail)
        me.library.HcclReduceScatterV(send, words(counts), words(offsets), recv, c_uint64(mine), *tail)

    everything = me.data(me.rank, 0, offsets[-1] + counts[-1])
    at = offsets[me.rank]
    return Job(everything, mine, me.reduced(at, mine), call, at)
