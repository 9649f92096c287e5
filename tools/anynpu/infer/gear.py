# SPDX-License-Identifier: Apache-2.0
"""How the size of a run is chosen, from the shapes of what is fed: batch, height and width, all sizes, or none."""

from anynpu.infer.runtime import checked

MODES = ("static", "dymbatch", "dymhw", "dymdims", "dymshape")


def open_axes(port):
    return [axis for axis, size in enumerate(port.shape) if size == -1]


def fits(shape, port):
    return len(shape) == len(port.shape) and all(
        want in (-1, size) for want, size in zip(port.shape, shape, strict=True)
    )


def batch_of(ports, shapes):
    found = {shape[0] for port, shape in zip(ports, shapes, strict=True) if open_axes(port)}
    if len(found) != 1:
        raise ValueError(f"the batch of the inputs is not one number: {sorted(found)}; feed arrays of one batch")
    return found.pop()


def picture_of(ports, shapes):
    """(height, width) of the input that has both open."""
    for port, shape in zip(ports, shapes, strict=True):
        axes = open_axes(port)
        if len(axes) == 2:
            return shape[axes[0]], shape[axes[1]]
    raise ValueError("no input has an open height and width; mode='dymhw' is for models of --dynamic_image_size")


def choose(acl, model, desc, dataset, gear_index, mode, ports, shapes):
    """Tells the library the size of the next run with this data set."""
    if mode == "dymbatch":
        batch = batch_of(ports, shapes)
        code = acl.mdl.set_dynamic_batch_size(model, dataset, gear_index, batch)
        checked("acl.mdl.set_dynamic_batch_size", code)
    elif mode == "dymhw":
        height, width = picture_of(ports, shapes)
        code = acl.mdl.set_dynamic_hw_size(model, dataset, gear_index, height, width)
        checked("acl.mdl.set_dynamic_hw_size", code)
    elif mode == "dymdims":
        sizes = [size for shape in shapes for size in shape]
        dims = {"name": "", "dimCount": len(sizes), "dims": sizes}
        checked("acl.mdl.set_input_dynamic_dims", acl.mdl.set_input_dynamic_dims(model, dataset, gear_index, dims))
    elif mode == "dymshape":
        tell_shapes(acl, desc, dataset, ports, shapes)


def tell_shapes(acl, desc, dataset, ports, shapes):
    for port, shape in zip(ports, shapes, strict=True):
        kind, layout = acl.mdl.get_input_data_type(desc, port.index), acl.mdl.get_input_format(desc, port.index)
        told = acl.create_tensor_desc(kind, list(shape), layout)
        try:
            _, code = acl.mdl.set_dataset_tensor_desc(dataset, told, port.index)
            checked("acl.mdl.set_dataset_tensor_desc", code)
        finally:
            acl.destroy_tensor_desc(told)
