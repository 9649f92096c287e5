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


class Rank:
    """One process with all that it starts, which stays in its process group."""

    def __init__(self, number, device, command, environment, cores, log):
        self.number, self.device, self.log = number, device, log
        self.start, self.code, self.seconds = time.monotonic(), None, 0.0
        launcher = os.getpid()

        def prepare():
            if cores is not None:
                os.sched_setaffinity(0, cores)
            LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # also when the launcher is killed
            if os.getppid() != launcher:
                os._exit(1)

        with writing(log):
            log.write_bytes(b"")
        with open(log, "wb") as file:
            # In a session of its own: signals reach a rank through us, once, and its children with it.
            self.process = subprocess.Popen(
                command,
                env=environment,
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=prepare,
            )
        self.tail = progress.Tail(log)

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

    def check_log(self):
        """A rank whose log is on a full disk cannot say so. Raises ValueError."""
        with writing(self.log), open(self.log, "ab", buffering=0) as file:
            file.write(f"anynpu launch: {self.end()}\n".encode())

    def end(self):
        how = f"ended by {signal.Signals(-self.code).name}" if self.code < 0 else f"exit code {self.code}"
        return f"{how if self.code else 'done'} after {self.seconds:.1f} s"

    def signal(self, number):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)
