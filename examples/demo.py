# SPDX-License-Identifier: Apache-2.0
"""`make demo`: trains ordinary GPU scripts on the software NPU and, untouched, on the CPU, and compares:
torch/digits_cuda.py, as it is and as `anynpu migrate` turns it into NPU code, tensorflow/digits_gpu.py, migrated, and
torch/digits_ddp_cuda.py, on two NPUs.

First 10 steps in fp32: the losses agree within 1e-4 relative. Then a full run (mixed precision and dropout for PyTorch,
dropout for TensorFlow): the test accuracy is at least 97 % on both devices and differs by at most 1.5 points. Writes
out/demo.json, out/demo.png and the migrated scripts.
"""

import json
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
OUT = HERE.parent / "out"
TORCH, TENSORFLOW = HERE / "torch/digits_cuda.py", HERE / "tensorflow/digits_gpu.py"
RANKS = HERE / "torch/digits_ddp_cuda.py"
EPOCHS = {TORCH: 15, TENSORFLOW: 15, RANKS: 8}
BIN = pathlib.Path(sys.executable).parent


def command_of(script, where):
    """The command and what its environment needs on top of ours."""
    if where == "npu" and script == TORCH:  # as it is
        return [str(BIN / "anynpu"), "run", str(script)], {}
    if where == "npu" and script == RANKS:
        return [str(BIN / "anynpu"), "launch", "-n", "2", "--log-dir", str(OUT / "launch_logs"), str(script)], {}
    more = {"TF_CPP_MIN_LOG_LEVEL": "2"}
    return [sys.executable, str(script)], more | ({"TORCH_DEVICE_BACKEND_AUTOLOAD": "0"} if where == "cpu" else {})


def migrated(script):
    """The script as anynpu migrate makes it, in out/."""
    made = OUT / f"{script.stem}_npu.py"
    made.unlink(missing_ok=True)
    print(f"anynpu migrate {script.relative_to(HERE.parent)} -o {made.relative_to(HERE.parent)}")
    done = subprocess.run(
        [str(BIN / "anynpu"), "migrate", str(script), "-o", str(made)], stdout=subprocess.PIPE, text=True
    )
    if done.returncode != 0:
        sys.exit(f"DEMO FAILED: the migration of {script.name} ended with exit code {done.returncode}\n{done.stdout}")
    print(f"  {done.stdout.splitlines()[-1].split(';')[0]}")
    return made


def train(script, where, name, *options):
    """Runs the script on "npu" or "cpu" with a progress bar; returns its JSON."""
    result, log = OUT / f"{name}-{where}.json", OUT / f"{name}-{where}.log"
    command, more = command_of(script, where)
    command += ["--json", str(result), *options]
    with open(log, "w", encoding="utf-8") as file:
        process = subprocess.Popen(command, env={**os.environ, **more}, stdout=subprocess.PIPE, stderr=file, text=True)
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


def worst_difference(npu, cpu):
    return max(abs(n - c) / abs(c) for n, c in zip(npu["losses"][:10], cpu["losses"][:10], strict=True))


class Check:
    """What the two devices were found to agree on."""

    def __init__(self):
        self.wrong, self.worst, self.accuracies = [], 0.0, []

    def losses(self, what, npu, cpu):
        worst = worst_difference(npu, cpu)
        print(f"  {what}: largest relative difference of the first 10 losses {worst:.1e} (limit 1e-4)")
        self.worst = max(self.worst, worst)
        if not worst <= 1e-4:
            self.wrong.append(f"{what}: losses differ")

    def accuracy(self, what, npu, cpu):
        table(npu, cpu)
        n, c = (run["epochs"][-1]["accuracy"] * 100 for run in (npu, cpu))
        print(f"\n  {what}: test accuracy NPU {n:.2f} %, CPU {c:.2f} % (at least 97 %, at most 1.5 points apart)\n")
        self.accuracies.append(f"{n:.2f} % against {c:.2f} %")
        if not (min(n, c) >= 97 and abs(n - c) <= 1.5):
            self.wrong.append(f"{what}: accuracy")


def train_torch(check):
    print(f"PyTorch, part A: {TORCH.name} in fp32, 10 steps")
    a_npu, a_cpu = (train(TORCH, where, "a", "--steps", "10") for where in ("npu", "cpu"))
    check.losses("PyTorch", a_npu, a_cpu)
    if a_npu["device"] != "cuda":  # transfer_to_npu lets the script believe in a GPU
        check.wrong.append(f"the NPU run used {a_npu['device']}")

    print(f"PyTorch, part B: {TORCH.name} --amp --dropout 0.2, {EPOCHS[TORCH]} epochs")
    options = ("--amp", "--dropout", "0.2", "--epochs", str(EPOCHS[TORCH]))
    b_npu, b_cpu = (train(TORCH, where, "b", *options) for where in ("npu", "cpu"))
    check.accuracy("PyTorch", b_npu, b_cpu)
    picture(b_npu, b_cpu, OUT / "demo.png")

    script = migrated(TORCH)
    print("PyTorch, migrated: both parts once more, against the same runs on the CPU")
    m_npu, n_npu = train(script, "npu", "m", "--steps", "10"), train(script, "npu", "n", *options)
    check.losses("PyTorch, migrated", m_npu, a_cpu)
    check.accuracy("PyTorch, migrated", n_npu, b_cpu)
    if "npu" not in m_npu["device"]:
        check.wrong.append(f"the migrated run used {m_npu['device']}")
    return {
        "part_a": {"npu": a_npu, "migrated": m_npu, "cpu": a_cpu},
        "part_b": {"npu": b_npu, "migrated": n_npu, "cpu": b_cpu},
    }


def train_tensorflow(check):
    parts = {"fit": "model.fit", "loop": "a tf.function of its own"}
    runs = {"npu": migrated(TENSORFLOW), "cpu": TENSORFLOW}
    print(f"TensorFlow, part A: {TENSORFLOW.name} in fp32, 10 steps, migrated on the NPU and untouched on the CPU")
    short = ("--steps", "10", "--epochs", "1")
    a_npu, a_cpu = (train(script, where, "tf-a", *short) for where, script in runs.items())
    for part, what in parts.items():
        check.losses(f"TensorFlow, {what}", a_npu[part], a_cpu[part])
    if "NPU" not in a_npu["device"]:
        check.wrong.append(f"the NPU run used {a_npu['device']}")

    print(f"TensorFlow, part B: {TENSORFLOW.name} --dropout 0.2, {EPOCHS[TENSORFLOW]} epochs")
    options = ("--dropout", "0.2", "--epochs", str(EPOCHS[TENSORFLOW]))
    b_npu, b_cpu = (train(script, where, "tf-b", *options) for where, script in runs.items())
    for part, what in parts.items():
        check.accuracy(f"TensorFlow, {what}", b_npu[part], b_cpu[part])
    return {"part_a": {"npu": a_npu, "cpu": a_cpu}, "part_b": {"npu": b_npu, "cpu": b_cpu}}


def train_ranks(check):
    print(f"PyTorch on two NPUs: anynpu launch -n 2 {RANKS.name}, {EPOCHS[RANKS]} epochs, against one CPU process")
    npu, cpu = (train(RANKS, where, "ranks", "--epochs", str(EPOCHS[RANKS])) for where in ("npu", "cpu"))
    check.losses("PyTorch on two NPUs", npu, cpu)
    check.accuracy("PyTorch on two NPUs", npu, cpu)
    if (npu["device"], npu["ranks"]) != ("cuda", 2):
        check.wrong.append(f"the run on two NPUs had {npu['ranks']} ranks on {npu['device']}")
    return {"npu": npu, "cpu": cpu}


def main():
    OUT.mkdir(exist_ok=True)
    check = Check()
    runs = {"torch": train_torch(check), "tensorflow": train_tensorflow(check), "ranks": train_ranks(check)}
    (OUT / "demo.json").write_text(json.dumps(runs))
    if check.wrong:
        sys.exit("DEMO FAILED: " + "; ".join(check.wrong))
    print(f"DEMO OK  losses within {check.worst:.1e}, accuracy {', '.join(check.accuracies)}")
    print(f"curves: {OUT / 'demo.png'}   numbers: {OUT / 'demo.json'}")
    print("now run your own: anynpu run train.py, or anynpu migrate train.py && python train_npu.py")


if __name__ == "__main__":
    main()
