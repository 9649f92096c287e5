# SPDX-License-Identifier: Apache-2.0
"""TensorFlow between two hosts: ranks of a rank table, or of a chief, train as one process on the joined batches."""

import json
import os
import signal
import time

import pytest
from hccl_c import outputs
from placed import places, table

LAYOUT = (2, 2)
SECONDS = 600


def start(place, script, **variables):
    from ranks import PACKAGES  # loads TensorFlow

    environment = {"HCCL_CONNECT_TIMEOUT": "60", "TF_CPP_MIN_LOG_LEVEL": "2", "ANYNPU_THREADS": "1", **variables}
    environment["PYTHONPATH"] = os.pathsep.join([*map(str, PACKAGES), os.environ.get("PYTHONPATH", "")])
    return place.host.python("-c", script, environment=environment)


def by_table(two, folder, script, layout=LAYOUT):
    """The ranks as processes, which know their `rank` and the `count`."""
    path = folder / "rank_table.json"
    path.write_text(json.dumps(table(two, layout)), encoding="utf-8")
    ranks = places(two, layout)
    return [
        start(
            each, f"rank, count = {each.rank}, {len(ranks)}\n{script}",
            RANK_TABLE_FILE=path, RANK_ID=each.rank, RANK_SIZE=len(ranks), ASCEND_DEVICE_ID=each.local,
        )
        for each in ranks
    ]  # fmt: skip


AGREES = """
from hccl.manage.api import get_rank_id, get_rank_size
assert (get_rank_id(), get_rank_size()) == (rank, count)
"""


def by_chief(two, script, layout=LAYOUT):
    """Ranks follow addresses of hosts and devices."""
    ranks = places(two, layout)
    common = {"CM_CHIEF_IP": two[0].address, "CM_CHIEF_PORT": 6000, "CM_CHIEF_DEVICE": 0, "CM_WORKER_SIZE": len(ranks)}
    return [
        start(
            each, f"rank, count = {each.rank}, {len(ranks)}\n{script}{AGREES}",
            **common, CM_WORKER_IP=each.host.address, ASCEND_DEVICE_ID=each.local,
        )
        for each in ranks
    ]  # fmt: skip


def said(processes):
    results = outputs(processes, seconds=SECONDS)
    for rank, (code, text) in enumerate(results):
        assert code == 0, f"rank {rank}: {text[-3000:]}"
    return [text for _, text in results]


@pytest.mark.promise("TensorFlow on 2 hosts with 2 ranks each trains as one process on the joined batch")
@pytest.mark.parametrize("way", ["table", "chief"])
def test_fit_equals_the_joined_batch(way, hosts, tmp_path):
    """Keras fit with callbacks and three optimizers, and a step of one's own."""
    import test_ranks

    two = hosts(2)
    script = test_ranks.HEAD + test_ranks.TRAINED
    ranks = by_table(two, tmp_path, script) if way == "table" else by_chief(two, script)
    found = [test_ranks.weights(text) for text in said(ranks)]
    assert all(each == found[0] for each in found), "ranks end with the same bits"
    alone = start(places(two, (1,))[0], "rank, count = 0, 1\n" + script)
    for name, wanted in test_ranks.weights(said([alone])[0]).items():
        test_ranks.same(found[0][name], wanted, 1e-5)  # sums of gradients in another order, over 12 steps


def test_sessions_train_as_one_on_the_joined_batch(hosts, tmp_path):
    import test_ranks

    two = hosts(2)
    found = [test_ranks.weights(text) for text in said(by_table(two, tmp_path, test_ranks.SESSION))]
    assert all(each == found[0] for each in found)
    alone = start(places(two, (1,))[0], "rank, count = 0, 1\n" + test_ranks.SESSION)
    test_ranks.same(found[0], test_ranks.weights(said([alone])[0]), 1e-5)


def test_models_train_as_one_on_the_joined_batch(hosts, tmp_path):
    """A residual network, an encoder and a model of words, which test_rank_models.py trains on one host."""
    import test_rank_models as of_ranks
    from ranks import HEAD, weights

    two = hosts(2)
    found = [weights(text) for text in said(by_table(two, tmp_path, HEAD + of_ranks.MODELS + of_ranks.BY_RANKS))]
    alone = start(places(two, (1,))[0], "rank, count = 0, 1\n" + HEAD + of_ranks.MODELS + of_ranks.BY_ONE)
    of_ranks.as_joined(found, weights(said([alone])[0]), hosts=2)


def test_each_step_computes_what_the_cpu_computes_on_the_joined_batch(hosts, tmp_path):
    import test_rank_models as of_ranks
    from ranks import HEAD

    script = HEAD + of_ranks.MODELS + of_ranks.RESYNCHRONISED
    assert all("RESYNCHRONISED" in text for text in said(by_table(hosts(2), tmp_path, script)))


VALUES = """
x = tf.constant(np.random.default_rng(rank).normal(size=(1001,)).astype(np.float32))
everybody = [np.random.default_rng(r).normal(size=(1001,)).astype(np.float32) for r in range(4)]
total = (everybody[0] + everybody[1]) + (everybody[2] + everybody[3])  # those of a host first: the same bits
np.testing.assert_array_equal(npu.distribute.all_reduce(x, "sum"), total)
np.testing.assert_array_equal(hccl_ops.allgather(x, 4), np.concatenate(everybody))
np.testing.assert_array_equal(hccl_ops.broadcast([x], 3)[0], everybody[3])
print("VALUES", flush=True)
"""


def test_values(hosts, tmp_path):
    import test_ranks

    assert all("VALUES" in text for text in said(by_table(hosts(2), tmp_path, test_ranks.HEAD + VALUES)))


def test_a_rank_that_is_killed_is_named(hosts, tmp_path):
    import test_ranks

    script = test_ranks.HEAD + test_ranks.LOST.replace("rank == 1", "rank == 3").replace("sys.stdin.read()", WAITS)
    ranks = by_table(hosts(2), tmp_path, script)
    for line in iter(ranks[3].stdout.readline, "met 4.0\n"):
        assert line, "rank 3 has ended"
    time.sleep(0.5)
    begin = time.monotonic()
    ranks[3].send_signal(signal.SIGKILL)
    for text in said(ranks[:3]):
        assert "HEARD" in text and "rank 3 (host node1" in text.split("HEARD")[1], text
    assert time.monotonic() - begin < 30  # TensorFlow's end takes some seconds of it


WAITS = "import time; time.sleep(600)"
