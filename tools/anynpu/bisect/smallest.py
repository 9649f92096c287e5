# SPDX-License-Identifier: Apache-2.0
"""Delta debugging: of a set that is enough, a part that is enough and of which nothing can be left out."""


def parts(items, count):
    size, more = divmod(len(items), count)
    at = 0
    for number in range(count):
        end = at + size + (number < more)
        yield items[at:end]
        at = end


def smallest(items, enough):
    """`enough(items)` holds; halves first, then what is left of them, then ever smaller parts."""
    count = 2
    while len(items) > 1:
        pieces = list(parts(items, min(count, len(items))))
        alone = next((piece for piece in pieces if enough(piece)), None)
        if alone is not None:
            items, count = alone, 2
            continue
        rests = ([one for one in items if one not in piece] for piece in pieces) if len(pieces) > 2 else ()
        rest = next((rest for rest in rests if enough(rest)), None)
        if rest is not None:
            items, count = rest, max(count - 1, 2)
        elif count >= len(items):
            break
        else:
            count = min(2 * count, len(items))
    return items
