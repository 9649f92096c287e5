# SPDX-License-Identifier: Apache-2.0
"""fit warns once where each of several processes would train on all of a data set."""

import warnings

import pytest
import tensorflow as tf
from npu_device.distribute import ranks, sharding
from npu_device.setting import telling

DATA = tf.data.Dataset.range(12)


def doubled(x):
    return x * 2


SHARDED = {
    "itself": lambda: DATA.shard(2, 0),
    "before other steps": lambda: DATA.shard(2, 1).map(doubled).batch(2).prefetch(1),
    "one of several": lambda: tf.data.Dataset.zip((DATA.shard(2, 0), DATA)),
}
WHOLE = {
    "itself": lambda: DATA,
    "with other steps": lambda: DATA.shuffle(4).map(doubled).batch(2).repeat(2),
    "tensors": lambda: tf.data.Dataset.from_tensor_slices([1.0, 2.0]),
}


@pytest.mark.parametrize("name", SHARDED)
def test_a_part_is_known(name):
    assert sharding.is_sharded(SHARDED[name]())


@pytest.mark.parametrize("name", WHOLE)
def test_the_whole_is_known(name):
    assert not sharding.is_sharded(WHOLE[name]())


class Model:
    """What fit is called with."""

    def fit(self, x=None, *arguments, **named):
        self.given = (x, arguments, named)
        return "history"


def fits(monkeypatch, processes, data):
    """The warnings of two calls."""
    monkeypatch.setattr(ranks, "alone", lambda what: processes == 1)
    monkeypatch.setattr(telling, "_told", set())
    fit, model = sharding._watched(Model.fit), Model()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert fit(model, data, 3, epochs=2) == fit(model, data, 3, epochs=2) == "history"
    assert model.given == (data, (3,), {"epochs": 2})
    return [str(one.message) for one in told]


def test_a_whole_data_set_of_several_processes_is_told_once(monkeypatch):
    [text] = fits(monkeypatch, 2, DATA)
    assert "shard_and_rebatch_dataset" in text


@pytest.mark.parametrize("processes, data", [(2, DATA.shard(2, 0)), (1, DATA), (2, [1, 2])])
def test_nothing_is_told_of_the_rest(monkeypatch, processes, data):
    assert fits(monkeypatch, processes, data) == []


def test_fit_of_keras_is_watched_once():
    sharding.watch_fit()
    watched = tf.keras.Model.fit
    sharding.watch_fit()
    assert tf.keras.Model.fit is watched and watched._npu_device_sharding
