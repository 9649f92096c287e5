# SPDX-License-Identifier: Apache-2.0
"""Calls functions with arguments drawn from what earlier calls gave: live handles, destroyed ones, of the right kind
and of others, and plain numbers. `python random_calls.py SEED COUNT` prints how many calls worked; the last line of
stderr is the call under way, for one that takes the process along."""

import random
import sys

import lookup

import acl

# They end what the others need, wait for somebody, or call back.
LEFT_OUT = {"init", "finalize", "rt.reset_device", "rt.process_report", "util.start_thread", "util.stop_thread"}
LEFT_OUT |= {"rt.launch_callback", "rt.launch_host_func", "rt.set_exception_info_callback", "rt.host_register"}
LEFT_OUT |= {"prof.init", "rt.set_op_wait_timeout", "app_log", "mdl.set_dump", "tdt.receive_tensor", "tdt.send_tensor"}
PLAIN = [0, 1, 2, 3, 8, 64, 4096, -1, 1 << 31, 1 << 40, (1 << 64) - 1]
# Numbers at the head of the pool that may be written to: nowhere, or memory of this script. A handle may be the address
# of an object of the library, which nobody can tell from memory that a script has.
WRITABLE = len(PLAIN) + 2
TEXTS = ["", "x", "Add", "MatMul", "/nowhere", None]


def value(draw, word, pool):
    kind = word.split("/")[-1]
    if word in ("str", "text"):
        return draw.choice(TEXTS)
    if word == "dims":
        return {"dims": [draw.choice(PLAIN) for _ in range(draw.randrange(4))]}
    if kind in ("f32", "f64"):
        return draw.choice([0.0, -1.5, 1e30])
    return draw.choice(pool if kind in ("ptr", "any", "size", "u64") and draw.random() < 0.7 else PLAIN)


def values(draw, argument, pool):
    """For each name of one argument of a line."""
    word = argument.word
    if word.startswith(("list/", "array/")):
        return [[value(draw, word, pool) for _ in range(draw.randrange(4))]]
    if word == "pairs":
        count = draw.randrange(3)
        return [[draw.choice(pool) for _ in range(count)] for _ in range(2)]
    if word.startswith("listed/"):
        return [1, [draw.choice(pool)]]
    if word == "to" or word.startswith("cell/"):
        return [draw.choice(pool[:WRITABLE]), draw.choice(PLAIN)][: len(argument.names)]
    if word.startswith(("from/", "read/")):
        return [draw.choice(pool), draw.choice(PLAIN)]
    if word.startswith("cut/"):
        return ["text", draw.choice(PLAIN)]
    return [value(draw, word, pool) for _ in argument.names]


def main(seed, count):
    draw = random.Random(seed)
    acl.init()
    acl.rt.set_device(0)
    names = [name for name in lookup.there() if name not in LEFT_OUT]
    pool = [*PLAIN, acl.rt.malloc(4096, 0)[0], acl.rt.malloc_host(4096)[0]]
    worked = 0
    for _ in range(count):
        name = draw.choice(names)
        row = lookup.ROWS[name]
        given = [one for argument in row.arguments if argument.names for one in values(draw, argument, pool)]
        print(name, given, file=sys.stderr)
        try:
            result = lookup.function(name)(*given)
        except (TypeError, ValueError, MemoryError):
            continue
        result = result if isinstance(result, tuple) else (result,)
        worked += 1
        pool += [one for one in result[:2] if isinstance(one, int) and one > 1 << 20]
        if len(pool) > 200:
            del pool[draw.randrange(WRITABLE, 100)]
    print(worked)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
