# SPDX-License-Identifier: Apache-2.0
"""`make demo`: trains digits_cuda.py, unchanged, on the software NPU and on the CPU, and compares.

Part A (fp32): the first 10 losses agree within 1e-4 relative. Part B (mixed precision and dropout, full run): the test
accuracy is at least 97 % on both devices and differs by at most 1.5 points. Writes out/demo.json and out/demo.png.
"""

import json
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
OUT = HERE.parents[1] / "out"
SCRIPT = HERE / "digits_cuda.py"
EPOCHS = 15


def train(where, name, *options):
    """Runs the script on "npu" or "cpu" with a progress bar; returns its JSON."""
    result = OUT / f"{name}-{where}.json"
    if where == "npu":
        command = [str(pathlib.Path(sys.executable).parent / "anynpu"), "run"]
        env = os.environ.copy()
    else:
        command = [sys.executable]
        env = {**os.environ, "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
    command += [str(SCRIPT), "--json", str(result), *options]
    log = OUT / f"{name}-{where}.log"
    with open(log, "w", encoding="utf-8") as file:
        process = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=file, text=True)
        for line in process.stdout:
            file.write(line)
            match = re.match(r"epoch +(\d+)/(\d+) +(.*)", line)
            if match:
                done, total = int(match[1]), int(match[2])
                bar = "#" * (20 * done // total)
                print(f"\r  {where} [{bar:<20}] {match[3].strip():<48}", end="", flush=True)
    print()
    if process.wait() != 0:
        print(log.read_text(encoding="utf-8")[-3000:])
        sys.exit(f"DEMO FAILED: training on {where} ended with exit code {process.returncode}; the log is {log}")
    return json.loads(result.read_text(encoding="utf-8"))


def table(npu, cpu):
    print("\n  epoch | loss NPU | loss CPU | accuracy NPU | accuracy CPU | s NPU | s CPU")
    for i, (n, c) in enumerate(zip(npu["epochs"], cpu["epochs"], strict=True), 1):
        print(
            f"  {i:5d} | {n['loss']:8.4f} | {c['loss']:8.4f} | {n['accuracy'] * 100:10.2f} % | "
            f"{c['accuracy'] * 100:10.2f} % | {n['seconds']:5.2f} | {c['seconds']:5.2f}"
        )


def picture(npu, cpu, path):
    os.environ.setdefault("MPLCONFIGDIR", str(OUT / "matplotlib"))  # its fonts' list; nothing outside the clone
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axis = pyplot.subplots(figsize=(7, 4))
    axis.plot(cpu["losses"], label="CPU (bf16 autocast)", color="tab:gray", linewidth=1)
    axis.plot(npu["losses"], label="software NPU (fp16 autocast, loss scaling)", color="tab:red", linewidth=1)
    axis.set(xlabel="step", ylabel="training loss", title="digits_cuda.py, unchanged: mixed precision and dropout")
    axis.set_yscale("log")
    axis.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=120)


def main():
    OUT.mkdir(exist_ok=True)
    print(f"Part A: {SCRIPT.name} in fp32, 10 steps")
    a_npu, a_cpu = (train(where, "a", "--steps", "10") for where in ("npu", "cpu"))
    worst = max(abs(n - c) / abs(c) for n, c in zip(a_npu["losses"], a_cpu["losses"], strict=True))
    print(f"  largest relative difference of the first 10 losses: {worst:.1e} (limit 1e-4)\n")

    print(f"Part B: {SCRIPT.name} --amp --dropout 0.2, {EPOCHS} epochs")
    options = ("--amp", "--dropout", "0.2", "--epochs", str(EPOCHS))
    b_npu, b_cpu = (train(where, "b", *options) for where in ("npu", "cpu"))
    table(b_npu, b_cpu)
    picture(b_npu, b_cpu, OUT / "demo.png")
    n, c = (run["epochs"][-1]["accuracy"] * 100 for run in (b_npu, b_cpu))
    (OUT / "demo.json").write_text(
        json.dumps({"part_a": {"npu": a_npu, "cpu": a_cpu, "worst": worst}, "part_b": {"npu": b_npu, "cpu": b_cpu}})
    )
    print(f"\n  test accuracy: NPU {n:.2f} %, CPU {c:.2f} % (at least 97 %, at most 1.5 points apart)")

    wrong = []
    if a_npu["device"] != "cuda":  # transfer_to_npu lets the script believe in a GPU
        wrong.append(f"the NPU run used {a_npu['device']}")
    if not worst <= 1e-4:
        wrong.append("part A: losses differ")
    if not (min(n, c) >= 97 and abs(n - c) <= 1.5):
        wrong.append("part B: accuracy")
    if wrong:
        sys.exit("DEMO FAILED: " + "; ".join(wrong))
    print(f"\nDEMO OK  losses within {worst:.1e}, accuracy {n:.2f} % against {c:.2f} %")
    print(f"curves: {OUT / 'demo.png'}   numbers: {OUT / 'demo.json'}")
    print("now run your own: anynpu run train.py")


if __name__ == "__main__":
    main()
