# SPDX-License-Identifier: Apache-2.0
"""The interrupt of a Jupyter cell acts within two seconds while kernels are queued, and the kernel goes on.

    make clients   # all of them; it puts ipykernel and jupyter_client into build/clients-jupyter
    PYTHONPATH=build/clients-jupyter python tests/clients/jupyter_interrupt.py

A real kernel (ipykernel, a process of its own) runs cells that launch products without end, as they are, from a
DataLoader, and waiting for each; jupyter_client interrupts it as a notebook does, and prints the seconds until the cell
has ended. Version it was run with: ipykernel 7.1.0, jupyter_client 8.6.3.
"""

import os
import queue
import sys
import time

from jupyter_client.manager import start_new_kernel

LIMIT = 2.0  # seconds
HEAD = """
import torch
w = torch.randn(1500, 1500).npu()
rows = torch.utils.data.TensorDataset(torch.randn(20000, 4))
"""
CELLS = {
    "plain loop": "while True: w = (w @ w) / 100",
    "DataLoader": "for x, in torch.utils.data.DataLoader(rows): w = (w @ w) / 100 + x.npu().sum()",
    "item()": "while True: w = (w @ w) / 100; w.sum().item()",
}
AFTER = "print('goes on', torch.ones(2).npu().sum().item())"


def text_of(client, message):
    """What the cell of `message` printed."""
    text = ""
    while True:
        got = client.get_iopub_msg(timeout=60)
        if got["parent_header"].get("msg_id") != message:
            continue
        if got["msg_type"] == "stream":
            text += got["content"]["text"]
        if got["msg_type"] == "status" and got["content"]["execution_state"] == "idle":
            return text


def reply(client, message, seconds):
    """The answer to a cell; queue.Empty where it has not ended by then."""
    until = time.monotonic() + seconds
    while True:
        got = client.get_shell_msg(timeout=max(until - time.monotonic(), 0.001))
        if got["parent_header"].get("msg_id") == message:
            return got["content"]


def interrupted(manager, client, cell):
    """Seconds from the interrupt to the end of the cell."""
    message = client.execute(cell)
    time.sleep(2)  # the queue is full by then
    start = time.monotonic()
    manager.interrupt_kernel()
    try:
        answer = reply(client, message, 60)
    except queue.Empty:
        sys.exit(f"{cell!r} did not end within 60 s of its interrupt")
    seconds = time.monotonic() - start
    assert answer["status"] == "error" and answer["ename"] == "KeyboardInterrupt", answer
    assert "goes on 2.0" in text_of(client, client.execute(AFTER))
    return seconds


def main():
    # Of the kernel's process: there is nothing of ours in this one.
    os.environ["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if "clients-jupyter" in path)
    manager, client = start_new_kernel(kernel_name="python3", startup_timeout=120)
    try:
        assert reply(client, client.execute(HEAD), 120)["status"] == "ok"
        slow = []
        for name, cell in CELLS.items():
            seconds = interrupted(manager, client, cell)
            print(f"{name:<12} {seconds:5.2f} s from the interrupt to the end of the cell")
            slow += [name] if seconds > LIMIT else []
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    if slow:
        sys.exit(f"slower than {LIMIT} s: {', '.join(slow)}")


if __name__ == "__main__":
    main()
