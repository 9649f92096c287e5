# SPDX-License-Identifier: Apache-2.0
"""The door's introspection (acl/include/anynpu/*.h) as Python lists. Everything known is asked of libanynpu.so."""

import ctypes as C
import os
from functools import cache
from types import SimpleNamespace

from anynpu.library import c_interface, place

WATCHING = []  # what the library has been given to call: it may do so for a moment after another took its place


@cache
def library():
    return c_interface.declare(C.CDLL(str(place.libraries() / place.CORE), C.RTLD_LOCAL))


@cache
def running():
    """That which works in this process already, wherever it came from; else this installation's."""
    try:
        return c_interface.declare(C.CDLL(place.CORE, os.RTLD_NOLOAD))
    except OSError:
        return library()


def _copy(one):
    out = SimpleNamespace()
    for name, kind in one._fields_[1:]:
        value = getattr(one, name)
        setattr(out, name, (value or b"").decode() if kind is C.c_char_p else value)
    return out


def _each(function, *arguments):
    """All items. A function that can refuse raises ValueError with its reason."""
    found, call = [], getattr(library(), function)
    visit = call.argtypes[-2](lambda item, _: found.append(_copy(item.contents)))
    if call(*arguments, visit, None):
        raise ValueError(library().anynpu_recent_reason().decode())
    return found


def operators():
    return _each("anynpu_each_operator")


def functions():
    return _each("anynpu_each_function")


def choices():
    return _each("anynpu_each_choice")


def settings():
    return _each("anynpu_each_setting")


def client_variables():
    return _each("anynpu_each_client_variable")


def usages():
    return _each("anynpu_each_usage")


def unfinished():
    return _each("anynpu_each_unfinished")


def version():
    return library().anynpu_version().decode()


def configured():
    """What a program started now would see: SoC, number of NPUs, memory."""
    return _each("anynpu_configured")[0]


def table_ranks(path):
    """The ranks of a rank table, in order. ValueError says what is wrong with it."""
    return _each("anynpu_each_table_rank", str(path).encode())


def who_am_i():
    """Which rank a program started now would be."""
    return _each("anynpu_who_am_i")[0]


def collective_plans(ranks):
    """How collectives on so many ranks will be done. Raises ValueError for a number or an HCCL_ALGO without sense."""
    return _each("anynpu_each_collective_plan", ranks)


def collective_plans_between(ranks, hosts, latency_us, message_us, bytes_per_us):
    """The same on so many hosts, with what a network costs. ValueError for costs without sense, too."""
    network = c_interface.Network(C.sizeof(c_interface.Network), latency_us, message_us, bytes_per_us)
    return _each("anynpu_each_collective_plan_between", ranks, hosts, C.byref(network))


def operator_precisions():
    """The published table of precision."""
    return _each("anynpu_each_operator_precision")


def precision_effects(mode):
    """{operator: what a precision mode makes of it}. Raises ValueError for a mode that there is not."""
    found = _each("anynpu_each_precision_effect", mode.encode())
    return {one.op: one.effect for one in found}


def kept_folder(folder):
    """Where compiled functions are kept, if op_compiler_cache_dir is `folder`; "" for the default."""
    return os.fsdecode(library().anynpu_kept_folder(os.fsencode(folder)))


def kept(folder):
    """All of them, the last used first."""
    return _each("anynpu_each_kept", os.fsencode(folder))


def clear_kept(folder):
    library().anynpu_clear_kept(os.fsencode(folder))


def watch_nonfinite(tell):
    """From now on tell(found) is called for each result that is not finite though the operator was given better, on the
    thread that ran it. None ends it."""
    call = running().anynpu_watch_nonfinite
    visit = call.argtypes[0](lambda found, _: tell(_copy(found.contents))) if tell else call.argtypes[0]()
    WATCHING.append(visit)
    call(visit, None)


def digest_start(file, place, tell):
    """From now on writes digests of what operators read and write; tell(type) is called when the one at `place` has
    run. ValueError with the reason where it cannot."""
    call = running().anynpu_digest_start
    visit = call.argtypes[2](lambda kind, _: tell(kind.decode()))
    WATCHING.append(visit)
    if call(str(file).encode(), place.encode() if place else None, visit, None):
        raise ValueError(running().anynpu_recent_reason().decode())


def watch_tasks(tell, every):
    """From now on tell(task) is called for each task that has run, on its thread; `every` as the header says."""
    call = running().anynpu_watch_tasks
    visit = call.argtypes[0](lambda task, _: tell(task.contents))
    WATCHING.append(visit)
    call(visit, None, every)


def _texts(function, *arguments):
    """All texts that a function shows. ValueError with its reason where it refuses."""
    found, call = [], getattr(library(), function)
    if call(*arguments, call.argtypes[-2](lambda text, _: found.append(text.decode())), None):
        raise ValueError(library().anynpu_recent_reason().decode())
    return found


def tuned():
    """The choices that tuning makes."""
    found = []
    visit = library().anynpu_each_tuned.argtypes[0](
        lambda name, purpose, ways, _: found.append(
            SimpleNamespace(name=name.decode(), purpose=purpose.decode(), ways=ways.decode())
        )
    )
    library().anynpu_each_tuned(visit, None)
    return found


def begin_tuning(job, folder, config):
    """Tunes from now on; gives sentences about what in the configuration has no effect. ValueError with the reason."""
    call, notices = running().anynpu_tuning_begin, []
    hear = call.argtypes[3](lambda text, _: notices.append(text.decode()))
    if call(job, os.fsencode(folder), config, hear, None):
        raise ValueError(running().anynpu_recent_reason().decode())
    return notices


def end_tuning():
    running().anynpu_tuning_end()


def bank_file(job):
    return _texts("anynpu_bank_file", job)[0]


def bank_entries(file):
    """Entries of a bank, as JSON."""
    return _texts("anynpu_bank_read", os.fsencode(file))


def bank_findings(file):
    """What keeps a bank's entries from being used here."""
    return _texts("anynpu_bank_verify", os.fsencode(file))


def bank_differences(left, right):
    return _texts("anynpu_bank_differences", os.fsencode(left), os.fsencode(right))


def bank_merge(into, source):
    """How many entries came in. ValueError with the reason where they do not fit."""
    changed = C.c_size_t()
    if library().anynpu_bank_merge(os.fsencode(into), os.fsencode(source), C.byref(changed)):
        raise ValueError(library().anynpu_recent_reason().decode())
    return changed.value


def save_task(task, folder, told):
    """Raises OSError with the reason."""
    if running().anynpu_save_task(C.byref(task), str(folder).encode(), told.encode()):
        raise OSError(running().anynpu_recent_reason().decode())


def replay_task(folder, visit):
    """visit(task) as it was saved, then as it runs again. Raises ValueError with the reason."""
    call = running().anynpu_replay_task
    if call(str(folder).encode(), 0, call.argtypes[2](lambda task, _: visit(task.contents)), None):
        raise ValueError(running().anynpu_recent_reason().decode())
