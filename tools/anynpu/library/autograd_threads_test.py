# SPDX-License-Identifier: Apache-2.0
"""A thread named as autograd's are is waited for while it runs, and no longer than that."""

import hashlib
import threading
import time
from pathlib import Path

from anynpu.library import autograd_threads


def run_named(name, work):
    begun, end = threading.Event(), threading.Event()

    def body():
        Path(f"/proc/self/task/{threading.get_native_id()}/comm").write_text(name)
        begun.set()
        work()
        end.wait()

    thread = threading.Thread(target=body)
    thread.start()
    begun.wait()
    return end, thread


def waited(name, work, longest=60.0):
    """Whether the work had ended when the wait ended."""
    done = []
    end, thread = run_named(name, lambda: (work(), done.append(True)))
    begun = time.monotonic()
    autograd_threads.LONGEST, before = longest, autograd_threads.LONGEST
    try:
        autograd_threads.wait()
        return bool(done), time.monotonic() - begun
    finally:
        autograd_threads.LONGEST = before
        end.set()
        thread.join()


def compute():
    """Without the interpreter, as a destructor in C++."""
    hashlib.pbkdf2_hmac("sha256", b"password", b"salt", 400_000)


def test_a_thread_of_autograd_is_waited_for():
    assert waited("pt_autograd_0", compute)[0]


def test_another_thread_is_not():
    assert not waited("another", lambda: time.sleep(1))[0]


def test_one_that_never_rests_is_left():
    stop = time.monotonic() + 3

    def work():
        while time.monotonic() < stop:
            compute()

    done, seconds = waited("pt_autograd_3", work, longest=0.1)
    assert not done and seconds < 3
