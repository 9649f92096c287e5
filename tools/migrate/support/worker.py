# SPDX-License-Identifier: Apache-2.0
"""Probes in processes of their own, each forked from one that has imported TensorFlow and run nothing: whatever a name
does, hangs or crashes, the next one finds a fresh TensorFlow."""

import multiprocessing
import os
import resource
import socket
import tempfile
import time
from multiprocessing.connection import wait

LIMIT_S = 300  # of the clock
LIMIT_CPU_S = 100
MEMORY = 12 << 30


def _no_network(*_, **__):
    raise OSError("a probe stays on its machine")


def _child(pipe, job):
    import attempt

    os.setsid()
    socket.getaddrinfo = _no_network
    silent = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(silent, stream)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT_CPU_S, LIMIT_CPU_S))
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        pipe.send(attempt.probe(*job))
        os.chdir("/")
    os._exit(0)


def _ended(process, pipe):
    try:
        return pipe.recv() if pipe.poll() else {"error": "the process ended"}
    except EOFError:
        return {"error": "the process ended"}
    finally:
        process.kill()
        process.join()


def probe_all(jobs, at_once, done=lambda key, result: None):
    """{key: result of attempt.probe(*arguments)} for jobs {key: arguments}."""
    context = multiprocessing.get_context("fork")
    waiting, running, results = list(jobs.items())[::-1], {}, {}
    while waiting or running:
        while waiting and len(running) < at_once:
            key, job = waiting.pop()
            here, there = context.Pipe(duplex=False)
            process = context.Process(target=_child, args=(there, job))
            process.start()
            there.close()
            running[here] = (key, process, time.monotonic() + LIMIT_S)
        ready = wait(list(running), timeout=1)
        for pipe, (key, process, end) in list(running.items()):
            if pipe not in ready and time.monotonic() < end:
                continue
            result = _ended(process, pipe) if pipe in ready else {"error": "took too long"}
            process.kill()
            process.join()
            pipe.close()
            del running[pipe]
            results[key] = result
            done(key, result)
    return results
