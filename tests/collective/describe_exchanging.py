# SPDX-License-Identifier: Apache-2.0
"""Conformance cases of what goes from each rank to each, and of messages."""

from ctypes import byref, c_uint32, c_uint64

import numpy
from conform_job import Job, case, packed, with_gaps, words
from hccl_c import Item


@case()
def all_to_all(me, count):
    def call(send, recv):
        part = (c_uint64(count), me.kind)
        me.library.HcclAlltoAll(send, *part, recv, *part, *me.tail)

    want = numpy.concatenate([me.data(rank, me.rank * count, count) for rank in range(me.size)])
    return Job(me.data(me.rank, 0, want.size), want.size, want, call)


def sent(me, rank, count):
    """What `rank` sends to each."""
    return [count + (rank + to) % 2 for to in range(me.size)]


def received(me, count):
    return [sent(me, rank, count)[me.rank] for rank in range(me.size)]


def exchanged(me, count, place, call):
    outgoing, incoming = sent(me, me.rank, count), received(me, count)
    want = me.blank(place(incoming)[-1] + incoming[-1])
    for rank, (part, at) in enumerate(zip(incoming, place(incoming), strict=True)):
        want[at : at + part] = me.data(rank, place(sent(me, rank, count))[me.rank], part)
    return Job(me.data(me.rank, 0, place(outgoing)[-1] + outgoing[-1]), want.size, want, call)


@case()
def all_to_all_v(me, count):
    outgoing, incoming = sent(me, me.rank, count), received(me, count)

    def call(send, recv):
        source = words(outgoing), words(with_gaps(outgoing)), me.kind
        target = words(incoming), words(with_gaps(incoming)), me.kind
        me.library.HcclAlltoAllV(send, *source, recv, *target, *me.tail)

    return exchanged(me, count, with_gaps, call)


@case()
def all_to_all_vc(me, count):
    matrix = [each for rank in range(me.size) for each in sent(me, rank, count)]

    def call(send, recv):
        me.library.HcclAlltoAllVC(send, words(matrix), me.kind, recv, me.kind, *me.tail)

    return exchanged(me, count, packed, call)


def around(me, count, call):
    source = (me.rank - 1) % me.size
    return Job(me.data(me.rank, 0, count), count, me.data(source, 0, count), call)


@case(row="send")
def send_recv(me, count):
    def call(send, recv):
        me.library.HcclGroupStart()
        to, source = c_uint32((me.rank + 1) % me.size), c_uint32((me.rank - 1) % me.size)
        me.library.HcclSend(send, c_uint64(count), me.kind, to, *me.tail)
        me.library.HcclRecv(recv, c_uint64(count), me.kind, source, *me.tail)
        me.library.HcclGroupEnd()

    return around(me, count, call)


@case(row="send")
def batch_send_recv(me, count):
    def call(send, recv):
        to, source = (me.rank + 1) % me.size, (me.rank - 1) % me.size
        items = Item(0, send, count, me.kind, to), Item(1, recv, count, me.kind, source)
        me.library.HcclBatchSendRecv(byref((Item * 2)(*items)), c_uint32(2), *me.tail)

    return around(me, count, call)
