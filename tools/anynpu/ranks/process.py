# SPDX-License-Identifier: Apache-2.0
"""The process of one rank of `anynpu launch`, and its log."""

import contextlib
import ctypes
import os
import signal
import subprocess
import time

from anynpu.ranks import progress

PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None)


@contextlib.contextmanager
def writing(path):
    """What goes wrong with the log's disk is told as such."""
    try:
        yield
    except OSError as error:
        raise ValueError(
            f"{path} cannot be written: {error.strerror}. What a rank writes there is lost; free space, or give "
            "another --log-dir"
        ) from None


class Process:
    """One process with all that it starts, which stays in its process group."""

    PIPE = subprocess.PIPE

    def __init__(self, number, device, command, environment, cores, output, folder=None):
        self.number, self.device = number, device
        self.start, self.code, self.seconds = time.monotonic(), None, 0.0
        parent = os.getpid()

        def prepare():
            if cores is not None:
                os.sched_setaffinity(0, cores)
            LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # also when who has started it is killed
            if os.getppid() != parent:
                os._exit(1)

        # In a session of its own: signals reach it through us, once, and its children with it.
        self.process = subprocess.Popen(
            command,
            env=environment,
            cwd=folder,
            stdin=subprocess.DEVNULL if folder else None,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=prepare,
        )

    @property
    def pid(self):
        return self.process.pid

    def age(self):
        return time.monotonic() - self.start

    def poll(self):
        """True when it has just ended. It is not reaped yet, so that its number stays its group's."""
        if self.code is not None:
            return False
        ended = os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if ended is None:
            return False
        self.code = ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status
        self.seconds = self.age()
        return True

    def end(self):
        return describe_end(self.code, self.seconds)

    def signal(self, number):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)

    def reap(self):
        """Waits for its end; its number stays its group's."""
        os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOWAIT)


def describe_end(code, seconds):
    how = f"ended by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
    return f"{how if code else 'done'} after {seconds:.1f} s"


class Logged:
    """What launchers know of a rank, wherever it runs: its log, and where it is."""

    host = ""  # by name; nothing for this one

    def place(self):
        return f"NPU {self.device}" + (f" of {self.host}" if self.host else "")

    def open_log(self, log):
        self.log = log
        with writing(log):
            log.write_bytes(b"")
        self.tail = progress.Tail(log)

    def is_on(self, host):
        """Whether this is the host that the library calls so."""
        return True

    def check_log(self):
        """A rank whose log is on a full disk cannot say so. Raises ValueError."""
        with writing(self.log), open(self.log, "ab", buffering=0) as file:
            file.write(f"anynpu launch: {self.end()}\n".encode())


class Rank(Logged, Process):
    """A rank on this host."""

    def __init__(self, number, device, command, environment, cores, log):
        self.open_log(log)
        with open(log, "wb") as file:
            super().__init__(number, device, command, environment, cores, file)

    def close(self):
        self.process.wait()
