# SPDX-License-Identifier: Apache-2.0
"""python model.py MODEL.om [INPUT.npy …]: a model of a file, its description, data sets and results; zeros for inputs
that are not given."""

import sys

import numpy as np

import acl

TO_DEVICE, TO_HOST = 1, 2
DTYPES = {0: np.float32, 1: np.float16, 2: np.int8, 3: np.int32, 4: np.uint8, 9: np.int64, 11: np.float64, 12: np.bool_}


def check(what, result):
    """The value of a result; RuntimeError for a code that is not 0."""
    *values, ret = result if isinstance(result, tuple) else (result,)
    if ret != 0:
        raise RuntimeError(f"{what} gave {ret}: {acl.get_recent_err_msg()}")
    return values[0] if values else None


def shaped(desc, side, index):
    """An array as an input or output needs it, of zeros."""
    kind = getattr(acl.mdl, f"get_{side}_data_type")(desc, index)
    dims = check("dims", getattr(acl.mdl, f"get_{side}_dims")(desc, index))["dims"]
    return np.zeros(dims, dtype=DTYPES[kind])


def dataset(arrays):
    made = acl.mdl.create_dataset()
    for array in arrays:
        address = check("acl.rt.malloc", acl.rt.malloc(array.nbytes, 0))
        pointer = acl.util.numpy_to_ptr(array)
        check("acl.rt.memcpy", acl.rt.memcpy(address, array.nbytes, pointer, array.nbytes, TO_DEVICE))
        check("dataset", acl.mdl.add_dataset_buffer(made, acl.create_data_buffer(address, array.nbytes)))
    return made


def release(made):
    for index in range(acl.mdl.get_dataset_num_buffers(made)):
        buffer = acl.mdl.get_dataset_buffer(made, index)
        acl.rt.free(acl.get_data_buffer_addr(buffer))
        acl.destroy_data_buffer(buffer)
    acl.mdl.destroy_dataset(made)


def run(path, files):
    model = check("acl.mdl.load_from_file", acl.mdl.load_from_file(path))
    desc = acl.mdl.create_desc()
    check("acl.mdl.get_desc", acl.mdl.get_desc(desc, model))
    inputs = [shaped(desc, "input", index) for index in range(acl.mdl.get_num_inputs(desc))]
    outputs = [shaped(desc, "output", index) for index in range(acl.mdl.get_num_outputs(desc))]
    for array, file in zip(inputs, files, strict=False):
        array[...] = np.load(file)
    given, got = dataset(inputs), dataset(outputs)
    check("acl.mdl.execute", acl.mdl.execute(model, given, got))
    for index, array in enumerate(outputs):
        address = acl.get_data_buffer_addr(acl.mdl.get_dataset_buffer(got, index))
        pointer = acl.util.numpy_to_ptr(array)
        check("acl.rt.memcpy", acl.rt.memcpy(pointer, array.nbytes, address, array.nbytes, TO_HOST))
        name, largest = acl.mdl.get_output_name_by_index(desc, index), int(array.argmax())
        print(f"{name}: {list(array.shape)}, largest {array.flat[largest]:g} at {largest}")
    release(given)
    release(got)
    acl.mdl.destroy_desc(desc)
    check("acl.mdl.unload", acl.mdl.unload(model))


def main(path, files):
    check("acl.init", acl.init())
    check("acl.rt.set_device", acl.rt.set_device(0))
    run(path, files)
    acl.rt.reset_device(0)
    check("acl.finalize", acl.finalize())


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
