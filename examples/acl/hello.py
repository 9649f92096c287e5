# SPDX-License-Identifier: Apache-2.0
"""python hello.py: device memory, one operator and its result, in AscendCL for Python."""

import numpy as np

import acl

TO_DEVICE, TO_HOST = 1, 2
FLOAT, ND = 0, 2


def check(what, ret):
    if ret != 0:
        raise RuntimeError(f"{what} gave {ret}: {acl.get_recent_err_msg()}")


def tensor(array):
    """(description, buffer, address) of an array's copy on the device."""
    address, ret = acl.rt.malloc(array.nbytes, 0)
    check("acl.rt.malloc", ret)
    pointer = acl.util.numpy_to_ptr(array)
    check("acl.rt.memcpy", acl.rt.memcpy(address, array.nbytes, pointer, array.nbytes, TO_DEVICE))
    return acl.create_tensor_desc(FLOAT, list(array.shape), ND), acl.create_data_buffer(address, array.nbytes), address


def main():
    check("acl.init", acl.init())
    check("acl.rt.set_device", acl.rt.set_device(0))
    stream, ret = acl.rt.create_stream()
    check("acl.rt.create_stream", ret)
    result = np.zeros(4, np.float32)
    numbers = [np.array([1, 2, 3, 4], np.float32), np.array([10, 20, 30, 40], np.float32), result]
    tensors = [tensor(array) for array in numbers]
    descs, buffers, addresses = zip(*tensors, strict=True)
    attr = acl.op.create_attr()
    inputs, outputs = (descs[:2], buffers[:2]), (descs[2:], buffers[2:])
    check("Add", acl.op.compile_and_execute("Add", *inputs, *outputs, attr, 0, 0, "", stream))
    check("acl.rt.synchronize_stream", acl.rt.synchronize_stream(stream))
    pointer = acl.util.numpy_to_ptr(result)
    check("acl.rt.memcpy", acl.rt.memcpy(pointer, result.nbytes, addresses[2], result.nbytes, TO_HOST))
    print(f"hello from {acl.get_soc_name()}: {' '.join(str(int(value)) for value in result)}")
    acl.op.destroy_attr(attr)
    for desc, buffer, address in tensors:
        acl.destroy_tensor_desc(desc)
        acl.destroy_data_buffer(buffer)
        acl.rt.free(address)
    acl.rt.destroy_stream(stream)
    acl.rt.reset_device(0)
    check("acl.finalize", acl.finalize())


if __name__ == "__main__":
    main()
