# SPDX-License-Identifier: Apache-2.0
"""The published msaccucmp of mindstudio-probe and ours on the same folders: the results agree, cell by cell.

    make clients   # all of them; it puts mindstudio-probe into build/msprobe
    python tests/clients/msaccucmp.py

Dump files of all element types and formats that the published tool reads are written with protobuf's own package. It
reads them through our libascend_dump_parser.so. Compared are dumps of the NPU on both sides, and dumps against arrays
of NumPy by a graph: as the fusion file that our atc makes for both tools, and as the graph's text for ours. Numbers
agree within 1e-6, relative or in the last place shown; what differs is listed. Some operators are also compared alone
(-op): the files that both leave have the same names, headers and lines.
Version it was run with: mindstudio-probe 26.2.0.
"""

import csv
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

ROOT = Path(__file__).resolve().parents[2]
PUBLISHED = Path(os.environ.get("MSPROBE", ROOT / "build/msprobe"))
OURS = ROOT / "build/bin/anynpu-compare"
ATC = ROOT / "build/bin/anynpu-atc"
U64, TEXT, I32, BYTES = 4, 9, 5, 12  # numbers of FieldDescriptorProto.Type
MESSAGES = {
    "Shape": [("dim", 1, U64, 1)],
    "Output": [("data_type", 1, I32, 0), ("format", 2, I32, 0), ("shape", 3, "Shape", 0), ("size", 6, U64, 0),
               ("original_shape", 7, "Shape", 0), ("sub_format", 8, I32, 0), ("address", 9, U64, 0)],
    "Input": [("data_type", 1, I32, 0), ("format", 2, I32, 0), ("shape", 3, "Shape", 0), ("size", 5, U64, 0),
              ("original_shape", 6, "Shape", 0), ("sub_format", 7, I32, 0), ("address", 8, U64, 0)],
    "Data": [("version", 1, TEXT, 0), ("dump_time", 2, U64, 0), ("output", 3, "Output", 1), ("input", 4, "Input", 1),
             ("op_name", 6, TEXT, 0)],
}  # fmt: skip
NUMPY = {1: "f4", 2: "f2", 3: "i1", 4: "u1", 5: "i2", 6: "u2", 7: "i4", 8: "i8", 9: "u4", 10: "u8", 11: "?", 12: "f8",
         16: "c8", 17: "c16", 23: "i8"}  # fmt: skip
BF16, UINT1, HIFLOAT8, E5M2, E4M3 = 27, 29, 33, 34, 35
NCHW, NHWC, ND, NC1HWC0, FRACTAL_Z, HWCN, FRACTAL_NZ, NDC1HWC0 = 0, 1, 2, 3, 4, 16, 29, 32
NAMES = {NCHW: "NCHW", NHWC: "NHWC", ND: "ND", HWCN: "HWCN"}
random.seed(1)
rng = np.random.default_rng(1)


def message_class():
    file = descriptor_pb2.FileDescriptorProto(name="dump.proto", syntax="proto3", package="dump")
    for name, fields in MESSAGES.items():
        message = file.message_type.add(name=name)
        for field, number, kind, repeated in fields:
            added = message.field.add(name=field, number=number, label=3 if repeated else 1)
            added.type = 11 if isinstance(kind, str) else kind
            if isinstance(kind, str):
                added.type_name = f".dump.{kind}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("dump.Data"))


Data = message_class()


def pair(kind, count):
    """Bytes of both sides: the golden's, and mine close to it."""
    if kind in (HIFLOAT8, E5M2, E4M3):
        # Finite ones, of those codes that the published tool reads as they are meant.
        good = {HIFLOAT8: [*range(0x20, 0x6F), *range(1, 8)], E5M2: range(0x7C), E4M3: range(0x7F)}[kind]
        golden = rng.choice(np.array(list(good), np.uint8), count)
        mine = np.where(rng.random(count) < 0.9, golden, rng.choice(np.array(list(good), np.uint8), count))
        return mine.astype(np.uint8).tobytes(), golden.tobytes()
    if kind == UINT1:
        golden = rng.integers(0, 256, (count + 7) // 8, np.uint8)
        return (golden ^ (rng.random(len(golden)) < 0.1).astype(np.uint8)).tobytes(), golden.tobytes()
    golden = rng.standard_normal(count) * 3
    mine = golden * (1 + 0.01 * rng.standard_normal(count)) + 0.001
    if kind == BF16:
        return tuple((x.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16).tobytes() for x in (mine, golden))
    kind = np.dtype(NUMPY[kind])
    if kind.kind in "iu":
        golden, mine = np.abs(golden) * 20, np.abs(mine) * 20 + (rng.random(count) < 0.2)
    if kind.kind == "b":
        return (rng.random(count) < 0.5).tobytes(), (rng.random(count) < 0.5).tobytes()
    return mine.astype(kind).tobytes(), golden.astype(kind).tobytes()


def tiled(original, kind):
    """The shape that a tensor of that original shape has in a format."""
    n, c, h, w = (*original, 1, 1, 1, 1)[:4]
    up = lambda x: (x + 15) // 16  # noqa: E731
    if kind == NC1HWC0:
        return [n, up(c), h, w, 16]
    if kind == FRACTAL_Z:
        return [up(c) * h * w, up(n), 16, 16]
    if kind == NDC1HWC0:
        n, c, d, h, w = original
        return [n, d, up(c), h, w, 16]
    if kind == FRACTAL_NZ:
        return [*original[:-2], up(original[-1]), up(original[-2]), 16, 16]
    order = {NCHW: "NCHW", NHWC: "NHWC", HWCN: "HWCN"}.get(kind)
    return [dict(zip("NCHW", original, strict=True))[axis] for axis in order] if order else list(original)


def size(shape):
    return int(np.prod(shape, dtype=np.int64))


def write(path, tensors, op_name):
    """`tensors`: (direction, type, format, shape, original shape, bytes)."""
    data = Data(version="2.0", dump_time=1, op_name=op_name)
    for direction, kind, layout, shape, original, blob in tensors:
        made = getattr(data, direction).add(
            data_type=kind, format=layout, size=len(blob), address=rng.integers(1, 9999)
        )
        made.shape.dim.extend(shape)
        made.original_shape.dim.extend(original)
    header = data.SerializeToString()
    blobs = b"".join(t[-1] for t in [x for x in tensors if x[0] == "input"] + [x for x in tensors if x[0] == "output"])
    path.write_bytes(len(header).to_bytes(8, "little") + header + blobs)


def file_name(op_type, name, number, generation=5):
    name = name.replace("/", "_").replace(".", "_")
    stream = ".7" if generation != 4 else ""
    slices = ".0.1.0.0" if generation == 9 else ""
    return f"{op_type}.{name}.{number}{stream}.{1600000000000000 + number}{slices}"


def shapes():
    for kind in [*NUMPY, BF16, UINT1, HIFLOAT8, E5M2, E4M3, 0]:
        if kind == UINT1:  # elements that fill their bytes: the published tool counts those that are padding
            yield from ((kind, ND, shape, shape) for shape in ([24], [3, 16], [2, 3, 8], [257, 8]))
            continue
        for shape in ([], [1], [24], [3, 16], [2, 3, 8], [2, 3, 4, 8], [257, 8], [0, 3], [1, 1, 1]):
            yield kind, ND, shape, shape
    for kind in [*NUMPY, BF16, E5M2]:
        for original in ([2, 17, 3, 5], [1, 16, 4, 4], [33, 3, 2, 2]):
            for layout in (NCHW, NHWC, HWCN, NC1HWC0, FRACTAL_Z):
                yield kind, layout, tiled(original, layout), original
        for original in ([30, 17], [3, 40, 20], [2, 3, 17, 18]):
            yield kind, FRACTAL_NZ, tiled(original, FRACTAL_NZ), original
        yield kind, NDC1HWC0, tiled([2, 17, 3, 4, 5], NDC1HWC0), [2, 17, 3, 4, 5]


def same_names(folder):
    mine, golden = folder / "mine", folder / "golden"
    mine.mkdir(), golden.mkdir()
    for number, (kind, layout, shape, original) in enumerate(shapes()):
        name = file_name("Op", f"layer/op.{number}", number, random.choice([4, 5, 5, 5, 9]))
        left, right = pair(3 if kind == 0 else kind, size(shape))
        more = pair(1, 6)
        write(mine / name, [("input", 1, ND, [6], [6], more[0]), ("output", kind, layout, shape, original, left)], "x")
        write(
            golden / name, [("input", 1, ND, [6], [6], more[1]), ("output", kind, layout, shape, original, right)], "x"
        )
    write(mine / file_name("Op", "only_mine", 9000), [], "x")
    write(golden / file_name("Op", "only_golden", 9001), [], "x")
    return ["-m", mine, "-g", golden], []


def by_graph(folder):
    """Golden arrays in NCHW, NHWC or ND; fused operators, casts in between, one without a file."""
    mine, golden, ops = folder / "npu", folder / "tf", []
    mine.mkdir(), golden.mkdir()
    before = None
    for number, (kind, layout, shape, original) in enumerate(shapes()):
        if kind in (0, UINT1, 23, 16, 17) or layout == HWCN or original == [0, 3]:
            continue
        name, format_ = f"net/op_{number}", "ND" if layout in (ND, FRACTAL_NZ, NDC1HWC0) else "NCHW"
        left, _ = pair(kind, size(shape))
        array = rng.standard_normal(original).astype("f4") if kind != 11 else rng.random(original) < 0.5
        originals = [name] if number % 5 else [f"{name}/first", name]
        np.save(golden / f"{name.replace('/', '_')}.0.1600000000000000.npy", array)
        tensors = [("output", kind, layout, shape, original, left)]
        if before:
            tensors.insert(0, ("input", *before))
        if number % 17:
            write(mine / file_name("Op", name, number), tensors, name)
        ops.append(op(number, name, "Op", [f"{ops[-1]['name']}:0"] if ops else [], originals, name, format_, original))
        before = (kind, layout, shape, original, left)
        if number % 7 == 0:
            ops.append(op(5000 + number, f"cast_{number}", "Cast", [f"{name}:0"], [], "", "", []))
    graph = {"graph": [{"name": "model", "op": ops}]}
    (folder / "ge_proto_00001_Build.txt").write_text(graph_text(graph))
    made = [f"--om={folder / 'ge_proto_00001_Build.txt'}", f"--json={folder / 'fusion.json'}"]
    subprocess.run([ATC, "--mode=5", *made], check=True)
    both = ["-m", mine, "-g", golden, "-overflow_detection", "-f"]
    return [*both, folder / "fusion.json"], [*both, folder / "ge_proto_00001_Build.txt"]


def op(number, name, kind, inputs, originals, origin, format_, shape):
    string = lambda key, value: {"key": key, "value": {"s": value}}  # noqa: E731
    described = [string("_datadump_origin_name", origin), string("_datadump_origin_format", format_)] if origin else []
    described += [{"key": "origin_shape", "value": {"list": {"i": shape}}}] if shape else []
    names = {"key": "_datadump_original_op_names", "value": {"list": {"s": originals}}}
    desc = {"dtype": "DT_FLOAT", "attr": described}
    return {"name": name, "type": kind, "id": number, "input": inputs, "attr": [names] if originals else [],
            "output_desc": [desc]}  # fmt: skip


def graph_text(value, name=""):
    text = ""
    for key, members in value.items():
        for member in members if isinstance(members, list) else [members]:
            if isinstance(member, dict):
                text += f"{key} {{\n{graph_text(member, key)}}}\n"
            else:
                quoted = isinstance(member, str) and key != "dtype"
                text += f"{key}: {json.dumps(member) if quoted else member}\n"
    return text


def run(command, output, environment):
    output.mkdir()
    start = time.perf_counter()
    done = subprocess.run([*map(str, command), "-out", str(output)], env=environment, capture_output=True, text=True)
    took = time.perf_counter() - start
    files = list(output.glob("result_*.csv"))
    if not files:
        sys.exit(f"no result of {command}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    with open(files[0], newline="") as file:
        return list(csv.reader(file)), took, done.returncode


def equal(a, b):
    if a == b:
        return True
    try:
        a, b = float(a), float(b)
    except ValueError:
        a, b = (np.array([float(x) for x in cell.strip("()").replace("),(", ";").split(";")]) if ";" in cell else None
                for cell in (a, b))  # fmt: skip
        return a is not None and b is not None and bool(np.allclose(a, b, rtol=1e-6, atol=1.01e-3, equal_nan=True))
    return bool(np.isclose(a, b, rtol=1e-6, atol=1.01e-6, equal_nan=True))


def differences(theirs, ours):
    """(tensor, column, their cell, our cell) of those that differ. Of reasons, whether there is one."""
    title = theirs[0]
    found = [("", "header", title, ours[0])] if title != ours[0] else []
    found += [("", "rows", len(theirs), len(ours))] if len(theirs) != len(ours) else []
    columns = [title.index(name) for name in ("TensorIndex", "NPUDump", "GroundTruth")]
    mine = {tuple(row[i] for i in columns): row for row in ours[1:]}
    for row in theirs[1:]:
        key = tuple(row[i] for i in columns)
        if key not in mine:
            found.append((key, "row", row, None))
            continue
        for column, a, b in list(zip(title, row, mine[key], strict=True))[1:]:
            same = bool(a) == bool(b) if column == "CompareFailReason" else equal(a, b)
            found += [] if same else [(key[0], column, a, b)]
    return found


ALONE = ["-n", "15", "-ml", "10000"]


def alone(folder):
    """Operators alone: of halves, floats, whole numbers and truth values, in two files of lines and with zeros."""
    mine, golden = folder / "one", folder / "other"
    mine.mkdir(), golden.mkdir()
    cases = [(1, ND, [129, 9, 17]), (1, NCHW, [2, 3, 4, 5]), (2, NC1HWC0, [1, 2, 3, 4, 16]), (BF16, ND, [40, 3]),
             (7, ND, [60]), (11, ND, [6, 5]), (12, NDC1HWC0, [1, 2, 1, 3, 2, 16]), (1, ND, [7])]  # fmt: skip
    for number, (kind, layout, shape) in enumerate(cases):
        name = file_name("Op", f"layer/op.{number}", number)
        left, right = pair(kind, size(shape))
        if number == 1:  # infinite and undefined relative errors
            left, right = np.frombuffer(left, "f4").copy(), np.frombuffer(right, "f4").copy()
            right[[3, 50]], left[50] = 0, 0
            left, right = left.tobytes(), right.tobytes()
        for side, blob in ((mine, left), (golden, right)):
            write(
                side / name,
                [("input", kind, layout, shape, shape, blob), ("output", kind, layout, shape, shape, blob)],
                "x",
            )
    return [(["-m", mine, "-g", golden], f"layer_op_{number}", number % 2) for number in range(len(cases))]


def alone_by_graph(folder):
    mine, golden, ops = folder / "npu1", folder / "tf1", []
    mine.mkdir(), golden.mkdir()
    cases = [(ND, "ND", [30, 17]), (NC1HWC0, "NCHW", [2, 17, 3, 5]), (NC1HWC0, "NHWC", [2, 3, 5, 17]),
             (FRACTAL_Z, "HWCN", [2, 2, 17, 33]),
             (FRACTAL_NZ, "ND", [30, 17])]  # fmt: skip
    for number, (layout, format_, original) in enumerate(cases):
        name = f"net/op_{number}"
        sizes = dict(zip(format_, original, strict=True)) if layout in (NC1HWC0, FRACTAL_Z) else {}
        shape = tiled([sizes[axis] for axis in "NCHW"] if sizes else original, layout)
        np.save(golden / f"{name.replace('/', '_')}.0.1600000000000000.npy", rng.standard_normal(original).astype("f4"))
        write(
            mine / file_name("Op", name, number),
            [("output", 2, layout, shape, original, pair(2, size(shape))[0])],
            name,
        )
        ops.append(op(number, name, "Op", [], [name], name, format_, original))
    (folder / "alone.json").write_text(json.dumps({"graph": [{"name": "model", "op": ops}]}))
    given = ["-m", mine, "-g", golden, "-f", folder / "alone.json"]
    return [(given, f"net/op_{number}", False) for number in range(len(cases))]


def files_of(command, given, output, environment):
    output.mkdir()
    arguments, name, is_input = given
    tensor = ["-i", "0"] if is_input else ["-o", "0"]
    done = subprocess.run([*map(str, [*command, *arguments, "-op", name, *tensor, *ALONE, "-out", output])],
                          env=environment, capture_output=True, text=True)  # fmt: skip
    return {path.name: path for path in output.iterdir()}, done


def file_differences(theirs, ours):
    """Lines of two files that differ. The worst of equal errors may be others: then the errors are compared."""
    if theirs.suffix == ".npy":
        a, b = np.load(theirs), np.load(ours)
        return (
            []
            if a.shape == b.shape and a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype != bool)
            else ["array"]
        )
    sign = "," if theirs.suffix == ".csv" else ":"
    left, right = ([line.strip().split(sign) for line in path.read_text().splitlines()] for path in (theirs, ours))
    if len(left) != len(right):
        return [f"{len(left)} and {len(right)} lines"]
    if "topn" in theirs.name:
        column = 4 if "absolute" in theirs.name else 5
        left, right = ([row[column : column + 1] for row in rows] for rows in (left, right))
    found = []
    for a, b in zip(left, right, strict=True):
        if len(a) != len(b) or not all(equal(x.strip(), y.strip()) for x, y in zip(a, b, strict=True)):
            found.append(f"{a} {b}")
    return found


def compare_alone(published, environment, folder):
    bad = lines = 0
    cases = [*alone(folder), *alone_by_graph(folder)]
    for number, given in enumerate(cases):
        theirs, done = files_of(published, given, folder / f"alone_theirs{number}", environment)
        ours, mine = files_of([OURS, "compare"], given, folder / f"alone_ours{number}", os.environ)
        if set(theirs) != set(ours) or not theirs or done.returncode != mine.returncode:
            bad += 1
            print("   ", given[1], sorted(theirs), sorted(ours), done.stdout[-800:], mine.stderr)
            continue
        for name, path in theirs.items():
            lines += len(path.read_bytes().splitlines()) if path.suffix != ".npy" else 0
            wrong = file_differences(path, ours[name])
            bad += len(wrong)
            print(*(f"    {name}: {line}" for line in wrong[:5]), sep="\n", end="\n" if wrong else "")
    print(f"-op: {len(cases)} tensors alone, {lines} lines of files; {bad} differ")
    return bad


def known(column, theirs, ours):
    """Why a difference is one of the published tool: it subtracts truth values, which NumPy refuses."""
    return column == "RelativeEuclideanDistance" and theirs == "NaN" and ours != "NaN"


def main():
    published = [sys.executable, PUBLISHED / "msprobe/msaccucmp/msaccucmp.py", "compare"]
    environment = os.environ | {"PYTHONPATH": str(PUBLISHED), "LD_LIBRARY_PATH": str(ROOT / "build/tools/adump/lib64")}
    bad = 0
    with tempfile.TemporaryDirectory(prefix="anynpu_") as folder:
        folder = Path(folder)
        bad += compare_alone(published, environment, folder)
        for make in (same_names, by_graph):
            arguments, more = make(folder)
            theirs, slow, their_code = run([*published, *arguments], folder / f"{make.__name__}_theirs", environment)
            for form, given in enumerate(filter(None, (arguments, more))):
                ours, fast, code = run([OURS, "compare", *given], folder / f"{make.__name__}_ours{form}", os.environ)
                found = differences(theirs, ours)
                print(f"{make.__name__} by {Path(given[-1]).name}: {len(ours) - 1} rows of {len(ours[0])} cells")
                expected = [line for line in found if known(*line[1:])]
                found = [line for line in found if line not in expected]
                print(
                    f"    {len(found)} differ, and {len(expected)} of truth values, which the published tool does not"
                )
                print(f"    subtract; exit codes {their_code} and {code}")
                print(f"    {slow:.2f} s and {fast:.3f} s, {slow / fast:.0f} times as fast")
                for line in found[:40]:
                    print("   ", *line)
                bad += len(found) + (their_code != code)
    sys.exit(bad != 0)


if __name__ == "__main__":
    main()
