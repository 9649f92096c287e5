# SPDX-License-Identifier: Apache-2.0
"""The vendor's functions on groups of ranks (guide to migration of TensorFlow scripts, chapter 11.2.2).

The first call joins the ranks that the environment names (all of them make it), unless hccl.init() or the framework did
so before; where it names none, after hccl.finalize(), and for anything else that makes no sense, they raise ValueError:
the vendor's words, then why. `group` is the name of a group of at most
127 bytes; "hccl_world_group" is that of all ranks.
"""

import ctypes

from hccl.manage import world

WORLD = "hccl_world_group"
LONGEST_NAME = 127  # and one byte that ends it
MOST_RANKS = 4096


def _name(group, what):
    if not isinstance(group, str) or not 0 < len(group.encode()) <= LONGEST_NAME:
        raise ValueError(f"{what}: group is {group!r}; it is a name of 1 to {LONGEST_NAME} bytes")
    return group.encode()


def _join(what):
    try:
        world.join_once()
    except RuntimeError as error:
        raise ValueError(f"{what}: {error}") from None


def _rank(value, what, argument):
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < MOST_RANKS:
        raise ValueError(f"{what}: {argument} is {value!r}; it is a whole number from 0 to {MOST_RANKS - 1}")
    return ctypes.c_uint32(value)


def _number(what, function, *arguments):
    _join(what)
    found, wrong = world.number(function, *arguments)
    if wrong is not None:
        raise ValueError(f"{what}: {wrong}")
    return found


def create_group(group, rank_num, rank_ids):
    """A group of the ranks `rank_ids` of the world, `rank_num` of them. All of them call it."""
    what = "create group error"
    name = _name(group, what)
    if not isinstance(rank_ids, list) or not rank_ids:
        raise ValueError(f"{what}: rank_ids is {rank_ids!r}; it is a list of ranks")
    if isinstance(rank_num, bool) or not isinstance(rank_num, int) or not 1 <= rank_num <= MOST_RANKS:
        raise ValueError(f"{what}: rank_num is {rank_num!r}; it is 1 to {MOST_RANKS}")
    if rank_num != len(rank_ids):
        raise ValueError(f"{what}: rank_num is {rank_num}, but rank_ids has {len(rank_ids)} ranks")
    ranks = [_rank(rank, what, "a rank of rank_ids") for rank in rank_ids]
    _join(what)
    wrong = world.call("anynpu_group_create", name, rank_num, (ctypes.c_uint32 * rank_num)(*ranks))
    if wrong is not None:
        raise ValueError(f"{what}: {wrong}")


def destroy_group(group):
    """Ends a group that create_group made."""
    what = "destroy group error"
    name = _name(group, what)
    _join(what)
    wrong = world.call("anynpu_group_destroy", name)
    if wrong is not None:
        raise ValueError(f"{what}: {wrong}")


def get_rank_size(group=WORLD):
    """How many ranks the group has."""
    what = "get rank size error"
    return _number(what, "anynpu_group_size", _name(group, what), 0)


def get_local_rank_size(group=WORLD):
    """How many of them are on this host."""
    what = "get local rank size error"
    return _number(what, "anynpu_group_size", _name(group, what), 1)


def get_rank_id(group=WORLD):
    """This process's rank in the group."""
    what = "get rank id error"
    return _number(what, "anynpu_group_rank", _name(group, what), 0)


def get_local_rank_id(group=WORLD):
    """This process's rank among those of the group on this host."""
    what = "get local rank id error"
    return _number(what, "anynpu_group_rank", _name(group, what), 1)


def get_world_rank_from_group_rank(group, group_rank_id):
    """The rank in the world of a rank of the group."""
    what = "get world rank from group rank error"
    return _number(what, "anynpu_group_to_world", _name(group, what), _rank(group_rank_id, what, "group_rank_id"))


def get_group_rank_from_world_rank(world_rank_id, group):
    """The rank in the group of a rank of the world."""
    what = "get group rank from world rank error"
    return _number(what, "anynpu_group_from_world", _name(group, what), _rank(world_rank_id, what, "world_rank_id"))
