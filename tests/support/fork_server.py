# SPDX-License-Identifier: Apache-2.0
"""python fork_server.py SOCKET MODULE…: imports the modules, then forks itself for each request on the socket.

Importing torch with its NPU plug-in, or TensorFlow, takes three seconds; a fork of a process that has imported it takes
a few milliseconds. A server that has imported torch without the plug-in (TORCH_DEVICE_BACKEND_AUTOLOAD=0) serves
environments that differ in what the plug-in and our libraries read: these are imported in the child. The server opens
no device and has no second thread, so that a child is as good as a new process. A request is one line of JSON,
{"command", "folder", "environment"}, with the descriptors of stdin, stdout and stderr. The server answers with the
child's number, and at its end with its status and CPU seconds as os.wait4 gives them. Where the client's end of the
connection closes first, the child is killed: so it is when a test's time is over.

Standard library only; python_process.py is the client.
"""

import contextlib
import importlib
import json
import os
import selectors
import signal
import socket
import sys

PLUG_IN = "TORCH_DEVICE_BACKEND_AUTOLOAD"
REQUEST = 1 << 20  # bytes of a request at most; the environment of a process is smaller


def import_modules(names):
    for name in names:
        importlib.import_module(name)
    if (child := os.fork()) == 0:  # the threads that NumPy's OpenBLAS starts end before a fork, by handlers of its own
        os._exit(0)
    os.waitpid(child, 0)
    threads = os.listdir("/proc/self/task")
    if len(threads) > 1:  # locks that other threads hold would stay locked in children
        sys.exit(f"fork_server: importing {' '.join(names)} has started {len(threads) - 1} threads")


def receive(connection):
    """The request and its three descriptors."""
    data, descriptors = b"", []
    while not data.endswith(b"\n"):
        part, more, _, _ = socket.recv_fds(connection, 1 << 16, 3)
        data, descriptors = data + part, descriptors + more
        if not part or len(data) > REQUEST:
            raise EOFError
    return json.loads(data), descriptors


def become(request, descriptors):
    """In the child: what a new interpreter would have found. Returns (how to run, argument) of the command."""
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
        os.close(descriptor)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    added = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    option, *arguments = request["command"]
    if option == "-c":
        sys.argv, first = ["-c", *arguments[1:]], ""
    else:
        sys.argv, first = [option, *arguments], os.path.dirname(os.path.realpath(option))
    sys.path[:] = [first, *added, *sys.path[1:]]  # the server itself was started without PYTHONPATH
    if "torch" in sys.modules and "torch_npu" not in sys.modules and os.environ.get(PLUG_IN, "1") == "1":
        sys.modules["torch"]._import_device_backends()  # as the last line of `import torch`
    return option, arguments


def serve(listening):
    """Returns in a child, with the command that it is to run; in the server never."""
    ready, running = selectors.DefaultSelector(), {}
    ready.register(listening, selectors.EVENT_READ)
    wake, woken = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
    signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    ready.register(wake, selectors.EVENT_READ)
    parent = os.getppid()
    while True:
        for key, _ in ready.select(timeout=1):
            if key.fileobj is listening:
                connection, _ = listening.accept()
                request, descriptors = receive(connection)
                child = os.fork()
                if child == 0:
                    signal.set_wakeup_fd(-1)
                    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                    os.close(wake)
                    os.close(woken)
                    for other in [listening, connection, *running.values()]:
                        other.close()
                    ready.close()
                    return become(request, descriptors)
                for descriptor in descriptors:
                    os.close(descriptor)
                connection.sendall(f"{child}\n".encode())
                running[child] = connection
                ready.register(connection, selectors.EVENT_READ, child)
            elif key.fileobj == wake:
                os.read(wake, 4096)
                reap(running, ready)
            elif key.data in running:  # the client has gone
                os.kill(key.data, signal.SIGKILL)
        if os.getppid() != parent:
            sys.exit()


def reap(running, ready):
    while running:
        child, status, usage = os.wait4(-1, os.WNOHANG)
        if child == 0:
            return
        connection = running.pop(child)
        ready.unregister(connection)
        with contextlib.suppress(OSError):  # the client has gone
            connection.sendall(f"{status} {usage.ru_utime + usage.ru_stime}\n".encode())
        connection.close()


def main():
    path, *modules = sys.argv[1:]
    import_modules(modules)
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listening.bind(path)
    listening.listen()
    return serve(listening)


if __name__ == "__main__":
    option, arguments = main()
    if option == "-c":
        exec(compile(arguments[0], "<string>", "exec"), {"__name__": "__main__", "__builtins__": __builtins__})
    else:
        import runpy

        runpy.run_path(option, run_name="__main__")
