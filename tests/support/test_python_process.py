# SPDX-License-Identifier: Apache-2.0
"""A forked script is to its test what a new process is."""

import os
import subprocess
import sys
import time

import pytest
import python_process


@pytest.fixture(scope="module")
def server():
    server = python_process.Server("decimal", dict(os.environ))
    yield server
    server.close()


@pytest.fixture
def both(server, monkeypatch, tmp_path):
    """What a command gives as a new process and as a fork."""

    def both(*arguments, **options):
        command = [sys.executable, *map(str, arguments)]
        monkeypatch.setattr(python_process, "module_of", lambda _: "decimal")
        monkeypatch.setattr(python_process, "server_for", lambda *_: server)
        options = {"capture_output": True, "text": True, "cwd": tmp_path} | options
        return python_process.run_fresh(command, **options), python_process.run(command, **options)

    return both


CODE = """
import decimal, os, sys
print(sys.argv, os.getcwd(), os.environ.get("GIVEN"), __name__, sys.path[0], sys.stdin.read())
print("to stderr", file=sys.stderr)
import atexit
atexit.register(print, "at the end")
sys.exit(int(sys.argv[1]))
"""


@pytest.mark.parametrize("code", [0, 3])
def test_a_fork_has_the_arguments_folder_environment_and_streams(both, tmp_path, code):
    script = tmp_path / "script.py"
    script.write_text(CODE)
    environment = os.environ | {"GIVEN": "value", "PYTHONPATH": str(tmp_path)}
    for command in (["-c", CODE], [script]):
        fresh, forked = both(*command, code, "word", input="some text", env=environment)
        assert (forked.returncode, forked.stdout, forked.stderr) == (code, fresh.stdout, fresh.stderr)
        assert "some text" in forked.stdout and forked.stdout.endswith("at the end\n")


def test_a_module_beside_a_script_is_found(both, tmp_path):
    (tmp_path / "beside.py").write_text("WORD = 'found'")
    (tmp_path / "script.py").write_text("import beside; print(beside.WORD)")
    assert [done.stdout for done in both(tmp_path / "script.py")] == ["found\n"] * 2


def test_an_exception_ends_a_fork_as_it_ends_a_process(both):
    fresh, forked = both("-c", "raise ValueError('the reason')")
    assert fresh.returncode == forked.returncode == 1
    assert forked.stderr.rstrip().endswith("ValueError: the reason")


def test_a_signal_is_the_status(both):
    assert [done.returncode for done in both("-c", "import os; os.abort()")] == [-6, -6]


def test_a_fork_is_killed_when_its_time_is_over(server, tmp_path):
    code = "import os, time; open('number', 'w').write(str(os.getpid())); time.sleep(60)"
    with (
        pytest.raises(subprocess.TimeoutExpired),
        python_process.Forked([sys.executable, "-c", code], server=server, env=dict(os.environ), cwd=tmp_path) as one,
    ):
        try:
            one.communicate(timeout=1)
        except subprocess.TimeoutExpired:
            one.kill()
            one.wait()
            raise
    number = int((tmp_path / "number").read_text())
    assert not os.path.exists(f"/proc/{number}")


def test_a_started_fork_can_be_asked_whether_it_has_ended(server, tmp_path):
    command = [sys.executable, "-c", "print(input())"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with python_process.Forked(command, server=server, env=dict(os.environ), **pipes) as one:
        assert one.poll() is None and os.path.exists(f"/proc/{one.pid}")
        one.stdin.write("a line\n")
        one.stdin.close()
        assert one.stdout.read() == "a line\n"
        until = time.monotonic() + 20
        while one.poll() is None and time.monotonic() < until:
            time.sleep(0.01)
        assert one.returncode == 0


def test_a_fork_has_no_path_of_another_test(tmp_path):
    """A server that an environment with a PYTHONPATH has started serves those without one, too."""
    (site,) = {path for path in sys.path if path.endswith("site-packages")}
    server = python_process.Server("decimal", os.environ | {"PYTHONPATH": f"{site}:{tmp_path}"})
    code = "import sys; print(*sys.path, sep='\\n')"
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    with python_process.Forked([sys.executable, "-c", code], server=server, env=environment, text=True,
                               stdout=subprocess.PIPE) as one:  # fmt: skip
        paths = one.communicate()[0].splitlines()
    server.close()
    fresh = python_process.run_fresh([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert paths == fresh.stdout.splitlines()


def test_a_fork_whose_client_goes_is_killed(server, tmp_path):
    connection = server.connect()
    code = "import os, time; open('number', 'w').write(str(os.getpid())); time.sleep(60)"
    request = {"command": ["-c", code], "folder": str(tmp_path), "environment": dict(os.environ)}
    python_process.socket.send_fds(connection, [python_process.json.dumps(request).encode() + b"\n"], [0, 1, 2])
    number = int(connection.recv(64))
    connection.close()
    until = time.monotonic() + 20
    while os.path.exists(f"/proc/{number}") and time.monotonic() < until:
        time.sleep(0.01)
    assert not os.path.exists(f"/proc/{number}")


@pytest.mark.parametrize(
    ("command", "module"),
    [
        (["-c", "import torch"], "torch"),
        (["-c", "import sys\nimport tensorflow as tf"], "tensorflow"),
        (["-c", "import threading, torch"], "torch"),
        (["-c", "import torch\nimport tensorflow"], None),
        (["-c", "print(1)"], None),
        (["-c", "import os\nprint(os.environ['RANK'] == '1')\nimport torch"], "torch"),
        (["-c", "import os\nos.environ['OMP_NUM_THREADS'] = '1'\nimport torch"], None),
        (["-c", "from anynpu.command import main\nimport torch"], None),
        (["-c", "import atexit, torch\natexit.register(print, 'last')"], None),
        (["-c", "import atexit, os, torch\natexit._run_exitfuncs()\nos._exit(0)"], "torch"),
        (["-m", "torch.distributed.run"], None),
        (["-u", "-c", "import torch"], None),
    ],
)
def test_only_scripts_that_import_a_framework_are_forked(command, module):
    assert python_process.module_of([sys.executable, *command]) == module
    assert python_process.module_of(["/bin/python", *command]) is None


class Started:
    """A server that is ready when it is asked for the second time."""

    def __init__(self, modules, environment):
        self.modules, self.environment, self.times = modules, environment, 0

    def is_ready(self):
        self.times += 1
        return self.times > 1


@pytest.fixture
def server_for(monkeypatch):
    monkeypatch.setattr(python_process, "servers", python_process.collections.OrderedDict())
    monkeypatch.setattr(python_process, "asked", python_process.collections.Counter())
    monkeypatch.setattr(python_process, "Server", Started)
    return python_process.server_for


def test_environments_that_differ_before_the_import_have_servers_of_their_own(server_for):
    plain = {"PATH": "/bin", "PYTEST_CURRENT_TEST": "a"}
    assert server_for("tensorflow", plain) is None, "the first run pays for no server"
    first = server_for("tensorflow", plain | {"PYTEST_CURRENT_TEST": "b", "ASCEND_PROCESS_LOG_PATH": "/tmp"})
    assert first and server_for("tensorflow", plain) is first
    assert server_for("tensorflow", plain | {"OMP_NUM_THREADS": "1"}) is None
    assert server_for("tensorflow", plain | {"ANYNPU_REPORT": "file"}) is first, "npu_device reads it"


def test_what_the_plug_in_reads_needs_no_server_of_its_own(server_for):
    plain = {"PATH": "/bin"}
    assert server_for("torch", plain) is None
    found = [server_for("torch", plain | more) for more in ({"ANYNPU_REPORT": "a"}, {"RANK": "1"}, {}, {}, {}, {})]
    assert len(set(found)) == 1 and found[0].environment[python_process.PLUG_IN] == "0"
    assert server_for("torch", plain).modules == "torch", "used often, it has one with the plug-in, once that is ready"
    assert server_for("torch", plain | {"RANK": "1"}) is found[0]
    assert server_for("torch", plain | {"TORCH_TRANSFER_TO_NPU": "1"}) is None
