# SPDX-License-Identifier: Apache-2.0
"""Runs a model file (.om, made by atc) on the software NPU and tells how long it took: `anynpu infer model.om --input
a.npy,b.bin --loop 100`. Without --input the inputs are zeros. Copies are timed apart; runs before the clock are
--warmup. Models with gears take the size of the run from --dymBatch, --dymHW, --dymDims or --dymShape. In Python:
`from anynpu.infer import InferSession`."""

import json
import re
from pathlib import Path

from anynpu.infer import array_file, latency, runtime
from anynpu.infer.session import InferSession

FORMS = ("NPY", "BIN", "TXT")


def add_arguments(parser):
    parser.add_argument("model", metavar="MODEL", help="the model file")
    parser.add_argument("--input", metavar="FILE,…", help="a .npy or .bin file for each input, in their order")
    parser.add_argument("--output", metavar="FOLDER", help="write the outputs and summary.json there; it is made")
    parser.add_argument("--outfmt", choices=FORMS, default="NPY", help="form of the outputs (NPY)")
    parser.add_argument("--loop", type=at_least_one, default=1, metavar="N", help="runs that are timed (1)")
    parser.add_argument("--warmup", type=int, default=1, metavar="N", help="runs before them (1)")
    parser.add_argument("--device", type=int, default=0, metavar="ID", help="the NPU (0)")
    gears = parser.add_mutually_exclusive_group()
    gears.add_argument("--dymBatch", type=at_least_one, metavar="N", help="batch, of a model with gears of batches")
    gears.add_argument("--dymHW", metavar="H,W", help="height and width, of a model with gears of pictures")
    gears.add_argument("--dymDims", metavar="NAME:…;…", help="sizes of each input, of a model with gears of sizes")
    gears.add_argument("--dymShape", metavar="NAME:…;…", help="sizes of each input, of a model with ranges")


def at_least_one(text):
    value = int(text)
    if value < 1:
        raise ValueError(text)
    return value


def numbers(text, flag):
    if not re.fullmatch(r"\d+([,x]\d+)*", text):
        raise ValueError(f"{flag} is {text!r}; sizes are numbers with commas between: 1,3,224,224")
    return [int(part) for part in re.split("[,x]", text)]


def named_shapes(text, flag, ports):
    """{"x": [1, 3]} of "x:1,3;y:…", all inputs named."""
    shapes = {}
    for part in filter(None, text.split(";")):
        name, colon, sizes = part.rpartition(":")
        if not colon:
            raise ValueError(f"{flag} is {text!r}; write NAME:1,3,224,224 for each input, with ; between")
        shapes[name] = numbers(sizes, flag)
    names = {port.name for port in ports}
    if set(shapes) != names:
        raise ValueError(f"{flag} names {', '.join(sorted(shapes))}; the inputs are {', '.join(sorted(names))}")
    return shapes


def with_picture(port, picture):
    """The input's shape with height and width in its open axes."""
    sizes = iter(picture if port.shape.count(-1) == 2 else ())
    return [next(sizes, -1) if size == -1 else size for size in port.shape]


def chosen(options, ports):
    """(mode, shape of each input) that the flags say; -1 stays where none does."""
    if options.dymBatch:
        return "dymbatch", [[options.dymBatch if size == -1 else size for size in port.shape] for port in ports]
    if options.dymHW:
        picture = numbers(options.dymHW, "--dymHW")
        if len(picture) != 2:
            raise ValueError(f"--dymHW is {options.dymHW!r}; it is height and width: 224,224")
        return "dymhw", [with_picture(port, picture) for port in ports]
    for flag, mode in (("dymDims", "dymdims"), ("dymShape", "dymshape")):
        if text := getattr(options, flag):
            shapes = named_shapes(text, f"--{flag}", ports)
            return mode, [shapes[port.name] for port in ports]
    return "static", [list(port.shape) for port in ports]


def fed(numpy, options, ports, shapes):
    """The arrays of --input, or zeros."""
    if options.input is None:
        for port, shape in zip(ports, shapes, strict=True):
            if -1 in shape:
                raise ValueError(
                    f"input {port.name} has the open shape {shape}: name a size with --dymBatch, --dymHW, --dymDims "
                    "or --dymShape, as the model was made"
                )
        return [numpy.zeros(shape, dtype=port.datatype) for port, shape in zip(ports, shapes, strict=True)]
    files = options.input.split(",")
    if len(files) != len(ports):
        names = ", ".join(port.name for port in ports)
        raise ValueError(f"--input names {len(files)} files, the model has {len(ports)} inputs: {names}")
    return [array_file.read(numpy, file, port.datatype, s) for file, port, s in zip(files, ports, shapes, strict=True)]


def written(numpy, options, outputs, results, found):
    folder = Path(options.output)
    folder.mkdir(parents=True, exist_ok=True)
    for index, (port, array) in enumerate(zip(outputs, results, strict=True)):
        name = re.sub(r"[^\w.-]", "_", port.name)
        path = array_file.write(numpy, folder, f"{Path(options.model).stem}_{index}_{name}", array, options.outfmt)
        print(f"{path}: {list(array.shape)} of {array.dtype}")
    (folder / "summary.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def execute(options):
    if not Path(options.model).is_file():
        raise FileNotFoundError(f"there is no file {options.model}; make one with atc")
    numpy, _ = runtime.modules()
    try:
        with InferSession(options.device, options.model) as session:
            mode, shapes = chosen(options, session.get_inputs())
            arrays = fed(numpy, options, session.get_inputs(), shapes)
            for _ in range(options.warmup):
                session.infer(arrays, mode)
            session.reset_summary()
            for _ in range(options.loop):
                results = session.infer(arrays, mode)
            found = latency.report(session.summary(), arrays[0].shape[0] if arrays and arrays[0].ndim else 1)
            print(latency.text(found))
            if options.output:
                written(numpy, options, session.get_outputs(), results, found)
    except RuntimeError as error:
        raise ValueError(str(error)) from None
    return 0
