# SPDX-License-Identifier: Apache-2.0
"""Runs a model file (.om) with numbers of its own making, tuning meanwhile: what the command aoe does with a model that
atc converts.

    python -m anynpu.infer.tuned model.om --tune 2
"""

import argparse
import sys
from pathlib import Path

from anynpu.infer import runtime
from anynpu.infer.session import InferSession
from anynpu.library import door

RUNS = 3  # the first one plans


def arguments():
    parser = argparse.ArgumentParser(prog="anynpu.infer.tuned", description=__doc__)
    parser.add_argument("model")
    parser.add_argument("--tune", type=int, choices=(1, 2), required=True)
    parser.add_argument("--work", default=".")
    parser.add_argument("--tune_ops_file")
    return parser.parse_args()


def numbers(numpy, port):
    """Seeded: between 0 and 1, whole numbers 0, as indices take them. ValueError for sizes that are open."""
    if -1 in port.shape:
        raise ValueError(
            f'the model leaves sizes of {port.name} open ({port.shape}); give --input_shape="{port.name}:…"'
        )
    if numpy.issubdtype(port.datatype, numpy.floating):
        return numpy.random.default_rng(0).random(port.shape).astype(port.datatype)
    return numpy.zeros(port.shape, port.datatype)


def main():
    options = arguments()
    try:
        numpy, _ = runtime.modules()  # loads the library that the session uses, which is to be the one that tunes
        config = Path(options.tune_ops_file).read_bytes() if options.tune_ops_file else None
        for notice in door.begin_tuning(options.tune, options.work, config):
            print(f"[Aoe] [WARNING] {notice}", flush=True)
        with InferSession(0, options.model) as session:
            feeds = [numbers(numpy, port) for port in session.get_inputs()]
            for _ in range(RUNS):
                session.infer(feeds)
        door.end_tuning()
    except (OSError, RuntimeError, ValueError) as error:
        return f"anynpu.infer.tuned: {error}"
    return 0


if __name__ == "__main__":
    sys.exit(main())
