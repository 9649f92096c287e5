# SPDX-License-Identifier: Apache-2.0
"""Tests that start Python scripts get processes forked from one that has imported the framework already.

`install()` (called by the root conftest.py) replaces `subprocess.run`; `start()` stands for `subprocess.Popen`. A call
that runs the tests' own interpreter on a script, or on code with -c, that imports torch or TensorFlow is passed to a
fork server (fork_server.py); everything else runs as before. From outside nothing differs but the time: the same
arguments, folder, environment, streams and status. Not passed on, because a fork would differ or cannot be done:

- interpreter options other than -c, and -m: they change the interpreter itself, or start it again;
- options of subprocess.run that concern the process itself (a session, a user, descriptors);
- code that sets variables, of which some are read while a framework is imported, looks at what was imported, or asks
  to be called at the end, before or after what frameworks do there;
- the command line `anynpu`, which sets such variables itself before it imports a framework;
- the first run with an environment: a server pays from the second on. One server serves one set of the variables that
  are read while the framework is imported; those that torch's plug-in and our libraries read need no server of their
  own, for a server without these imports them in the child. Environments that are used often have one that has them.

ANYNPU_FORK_SERVER=0 turns it off. A test that needs an interpreter that has imported nothing calls
`python_process.run_fresh`, and says why.
"""

import atexit
import collections
import json
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SERVER = Path(__file__).with_name("fork_server.py")
IMPORTS = {
    "torch": re.compile(r"^\s*(?:from|import|import [\w., ]+,) torch", re.MULTILINE),
    "tensorflow": re.compile(
        r"^\s*(?:from|import|import [\w., ]+,) (?:tensorflow|npu_device|npu_bridge|keras)", re.MULTILINE
    ),
}
NEEDS_FRESH = re.compile(
    r"""environ\[[^]]*\]\s*=(?!=)|environ\.(?:setdefault|update|pop|clear)|environ \|=|del os\.environ|putenv"""
    r"""|unsetenv|sys\.modules|sys\.flags|from atexit|\batexit\.(?!_run_exitfuncs\(\))|(?:from|import) anynpu\b"""
)
TAKEN = {"input", "capture_output", "timeout", "check", "env", "cwd", "text", "errors", "encoding", "stdin", "stdout"}
TAKEN |= {"stderr"}
# Variables that nothing reads while a framework is imported, and those of a kind that are read then all the same (found
# by logging getenv and os.environ during `import torch`).
OF_A_TEST = {"PYTEST_CURRENT_TEST", "PYTEST_VERSION", "PWD", "OLDPWD", "SHLVL", "_", "COLUMNS", "LINES", "PYTHONPATH"}
LATE = ("ANYNPU_", "ASCEND_", "NPU_", "HCCL_", "RANK", "CM_", "DUMP_", "PROFILING_", "JOB_ID", "DEVICE_ID", "TUNE_BANK",
        "XDG_", "WORLD_SIZE", "MASTER_", "LOCAL_", "CHECK_OVERFLOW")  # fmt: skip
# With these the plug-in is imported in the script's own process, which begins to be observed then, or is a rank.
OWN = {f"ANYNPU_{name}" for name in ("DIGEST", "MODULES", "NAN_CHECK", "REPORT", "SELF_CHECK", "STRICT")} | {"RANK"}
EARLY = {"ANYNPU_LIBRARY", "ASCEND_HOME_PATH", "ASCEND_OPP_PATH", "ASCEND_CUSTOM_OPP_PATH", "ASCEND_GLOBAL_LOG_LEVEL",
         "HCCL_EXEC_TIMEOUT", "NPU_ASD_CONFIG", "NPU_ASD_ENABLE"}  # fmt: skip
# What the plug-in imports of torch, and what it imports in addition when it replaces CUDA.
OF_PLUG_IN = "torch torch.distributed.tensor torch._dynamo"
OF_TRANSFER = OF_PLUG_IN + " torch._inductor.compile_fx"
PLUG_IN = "TORCH_DEVICE_BACKEND_AUTOLOAD"
MOST_SERVERS = 4  # of a process that runs tests: 400 MB each
SECONDS_TO_START = 120
run_fresh = subprocess.run


class Server:
    def __init__(self, modules, environment):
        self.seconds = 0.0  # of CPU, of its forks
        self.folder = tempfile.mkdtemp(prefix="fork-server-")
        self.path = os.path.join(self.folder, "socket")
        self.log = Path(self.folder, "log")
        own = {name: value for name, value in environment.items() if name != "PYTHONPATH"}  # each child has its own
        with open(self.log, "w") as log:
            self.process = subprocess.Popen([sys.executable, SERVER, self.path, *modules.split()], env=own,
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log)  # fmt: skip
        self.modules, self.until = modules, time.monotonic() + SECONDS_TO_START

    def is_ready(self):
        if os.path.exists(self.path):
            return True
        if self.process.poll() is not None or time.monotonic() > self.until:
            text = self.log.read_text()
            self.close()
            raise RuntimeError(f"the fork server that imports {self.modules} did not start: {text[-2000:]}")
        return False

    def connect(self):
        while not self.is_ready():
            time.sleep(0.02)
        for _ in range(100):  # the socket exists a moment before the server listens
            connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            try:
                connection.connect(self.path)
                return connection
            except ConnectionRefusedError:
                connection.close()
                time.sleep(0.02)
        raise RuntimeError(f"the fork server does not listen on {self.path}")

    def close(self):
        self.process.kill()
        self.process.wait()
        used["seconds"] -= self.seconds  # os.times() of the tests' process counts them from now on
        shutil.rmtree(self.folder, ignore_errors=True)


used = {"forks": 0, "seconds": 0.0}  # by all forks so far: CPU that os.times() of the tests' process does not count
servers = collections.OrderedDict()  # {(modules, variables): Server}
asked = collections.Counter()  # how often there was a run for (modules, variables)


def module_of(command):
    """The framework that the command imports, if a fork may run it."""
    if len(command) < 2 or command[0] != sys.executable or command[1].startswith("-") and command[1] != "-c":
        return None
    if command[1] == "-c":
        text = command[2]
        text += "".join(
            Path(word).read_text(errors="replace")
            for word in command[3:]
            if word.endswith(".py") and os.path.isfile(word)
        )
    else:
        text = Path(command[1]).read_text(errors="replace") if os.path.isfile(command[1]) else ""
    found = [module for module, pattern in IMPORTS.items() if pattern.search(text)]
    return found[0] if len(found) == 1 and not NEEDS_FRESH.search(text) else None


def key_of(modules, environment, early):
    kept = (name for name in environment if name in early or not name.startswith(LATE) and name not in OF_A_TEST)
    return modules, tuple(sorted((name, environment[name]) for name in kept))


def server_of_key(key, environment, runs):
    """The server of `key`, which the run that is number `runs` starts; None before."""
    asked[key] += 1
    if key not in servers:
        if asked[key] < runs:
            return None
        while len(servers) >= MOST_SERVERS:
            servers.popitem(last=False)[1].close()
        servers[key] = Server(key[0], environment)
    servers.move_to_end(key)
    return servers[key]


def server_for(module, environment):
    if module == "tensorflow":  # our libraries are imported in the child
        return server_of_key(key_of(module, environment, set()), environment, 2)
    if not OWN & set(environment):
        server = server_of_key(key_of(module, environment, EARLY), environment, 5)
        if server and server.is_ready():  # until then the other one serves
            return server
    alone = environment | {PLUG_IN: "0"}
    modules = OF_TRANSFER if environment.get("TORCH_TRANSFER_TO_NPU") == "1" else OF_PLUG_IN
    return server_of_key(key_of(modules, alone, set()), alone, 2)


class Forked(subprocess.Popen):
    """A child of the server with the interface that subprocess.run needs of a Popen. Its streams are made by Popen."""

    def __init__(self, args, *, server, **options):
        self.server = server
        super().__init__(args, **options)

    def _execute_child(self, args, executable, preexec_fn, close_fds, pass_fds, cwd, env, startupinfo, creationflags,
                       shell, p2cread, p2cwrite, c2pread, c2pwrite, errread, errwrite, *rest):  # fmt: skip
        descriptors = [given if given != -1 else number for number, given in enumerate((p2cread, c2pwrite, errwrite))]
        self.connection, self.answer = self.server.connect(), b""
        request = {"command": args[1:], "folder": os.fspath(cwd or os.getcwd()), "environment": dict(env)}
        socket.send_fds(self.connection, [json.dumps(request).encode() + b"\n"], descriptors)
        self.pid = int(self._line())
        self._child_created = True
        self._close_pipe_fds(p2cread, p2cwrite, c2pread, c2pwrite, errread, errwrite)

    def _line(self):
        """The next line of the server; empty where it has ended."""
        while b"\n" not in self.answer and (part := self.connection.recv(64)):
            self.answer += part
        line, _, self.answer = self.answer.partition(b"\n")
        return line

    def _wait(self, timeout):
        if self.returncode is None:
            self.connection.settimeout(timeout)
            try:
                status, _, seconds = self._line().partition(b" ")
            except TimeoutError:
                raise subprocess.TimeoutExpired(self.args, timeout) from None
            self.returncode = os.waitstatus_to_exitcode(int(status)) if status else -signal.SIGKILL
            used["forks"] += 1
            used["seconds"] += float(seconds or 0)
            self.server.seconds += float(seconds or 0)
            self.connection.close()
        return self.returncode

    def poll(self):
        if self.returncode is None and select.select([self.connection], [], [], 0)[0]:
            self._wait(None)
        return self.returncode

    def send_signal(self, number):
        if self.returncode is None:
            os.kill(self.pid, number)


def server_of(command, options):
    """The server whose fork is the same as a new process for this command; None where there is none."""
    if not isinstance(command, (list, tuple)) or set(options) - TAKEN:
        return None
    module = module_of([os.fsdecode(word) for word in command])
    return server_for(module, options.get("env") or os.environ) if module else None


def forked(server, command, options):
    environment = dict(options.get("env") or os.environ)
    return Forked([os.fsdecode(word) for word in command], server=server, **options | {"env": environment})


def start(command, **options):
    """subprocess.Popen(command, …), by a fork where that is the same."""
    server = server_of(command, options)
    return forked(server, command, options) if server else subprocess.Popen(command, **options)


def run(*command, **options):
    """subprocess.run, by a fork where that is the same."""
    if len(command) != 1 or (server := server_of(command[0], options)) is None:
        return run_fresh(*command, **options)
    given, timeout, check = (options.pop(name, None) for name in ("input", "timeout", "check"))
    if options.pop("capture_output", False):
        options |= {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    if given is not None:
        options["stdin"] = subprocess.PIPE
    with forked(server, command[0], options) as process:
        try:
            out, err = process.communicate(given, timeout=timeout)
        except BaseException:
            process.kill()
            process.wait()
            raise
    if check and process.returncode:
        raise subprocess.CalledProcessError(process.returncode, process.args, output=out, stderr=err)
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


@atexit.register
def close_servers():
    while servers:
        servers.popitem()[1].close()


def install():
    if os.environ.get("ANYNPU_FORK_SERVER") != "0":
        subprocess.run = run
