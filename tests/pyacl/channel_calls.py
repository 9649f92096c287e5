# SPDX-License-Identifier: Apache-2.0
"""acl.tdt: tensors through a channel of this process."""

import numpy as np

import acl

TENSOR, FLOAT = 0, 0


def run(call, folder):
    if not call.has("tdt.create_channel"):
        return
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    item = call("tdt.create_data_item", TENSOR, [2, 3], FLOAT, acl.util.numpy_to_ptr(array), array.nbytes)
    assert call("tdt.get_tensor_type_from_item", item) == TENSOR and call("tdt.get_data_type_from_item", item) == FLOAT
    assert call("tdt.get_data_size_from_item", item) == 24 and call("tdt.get_dim_num_from_item", item) == 2
    assert call("tdt.get_dims_from_item", item, 2) == [2, 3]
    assert acl.util.ptr_to_bytes(call("tdt.get_data_addr_from_item", item), 24) == array.tobytes()
    sent, received = call("tdt.create_dataset"), call("tdt.create_dataset")
    call("tdt.add_data_item", sent, item)
    assert call("tdt.get_dataset_size", sent) == 1 and call("tdt.get_data_item", sent, 0) == item
    channel = call("tdt.create_channel", 0, "of this test")
    call("tdt.send_tensor", channel, sent, 1000)
    call("tdt.receive_tensor", channel, received, 1000)
    got = call("tdt.get_data_item", received, 0)
    assert acl.util.ptr_to_bytes(acl.tdt.get_data_addr_from_item(got), 24) == array.tobytes()
    bounded(call, sent)
    call("tdt.stop_channel", channel)
    call("tdt.destroy_channel", channel)
    call("tdt.destroy_dataset", sent)
    call("tdt.destroy_dataset", received)
    call("tdt.destroy_data_item", item)


def bounded(call, sent):
    if not call.has("tdt.create_channel_with_capacity"):
        return
    channel = call("tdt.create_channel_with_capacity", 0, "of two places", 2)
    call("tdt.send_tensor", channel, sent, 1000)
    assert call("tdt.query_channel_size", channel) == 1
    call("tdt.clean_channel", channel)
    assert call("tdt.query_channel_size", channel) == 0
    call("tdt.destroy_channel", channel)
