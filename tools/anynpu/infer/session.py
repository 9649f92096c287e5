# SPDX-License-Identifier: Apache-2.0
"""InferSession: a model on a device, run with arrays."""

import time
from dataclasses import dataclass, field

from anynpu.infer import gear, runtime
from anynpu.infer.dataset import Dataset
from anynpu.infer.port import GEAR, ports
from anynpu.infer.runtime import checked


@dataclass
class Summary:
    """Milliseconds of each run: the copies of the inputs, the run itself, the copies of the outputs."""

    h2d_time_list: list = field(default_factory=list)
    exec_time_list: list = field(default_factory=list)
    d2h_time_list: list = field(default_factory=list)


class InferSession:
    """A model of a file on an NPU: InferSession(0, "model.om").infer([array]) -> [array].

    `acl_json_path` is the file that acl.init reads; `debug` prints inputs and outputs; `loop` is how often infer() runs
    the model on the same arrays. ValueError for arrays that do not fit, RuntimeError with the library's text else.
    """

    def __init__(self, device_id, model_path, acl_json_path=None, debug=False, loop=1):
        self.numpy, self.acl = runtime.modules()
        self.context = runtime.start(self.acl, device_id, acl_json_path)
        self.loop = loop
        self.times = Summary()
        self.model = checked("acl.mdl.load_from_file", self.acl.mdl.load_from_file(model_path))
        self.desc = self.acl.mdl.create_desc()
        checked("acl.mdl.get_desc", self.acl.mdl.get_desc(self.desc, self.model))
        self._describe()
        if debug:
            print("\n".join(f"{side}: {port}" for side in ("inputs", "outputs") for port in getattr(self, side)))

    def _describe(self):
        every = ports(self.acl, self.desc, "input")
        self.inputs = [port for port in every if port.name != GEAR]
        self.outputs = ports(self.acl, self.desc, "output")
        self.gear_index = next((port.index for port in every if port.name == GEAR), None)
        self.given = Dataset(self.acl, [port.size for port in every])
        self.got = Dataset(self.acl, [port.size for port in self.outputs])

    def get_inputs(self):
        """Name, datatype, format, shape and size of each input."""
        return self.inputs

    def get_outputs(self):
        return self.outputs

    def set_loop_count(self, loop):
        self.loop = loop

    def infer(self, feeds, mode="static", custom_sizes=None, out_array=True):
        """Runs the model on arrays, in the order of get_inputs(); gives arrays in the order of get_outputs().

        `mode` says what the arrays' shapes choose: "dymbatch", "dymhw" and "dymdims" a gear, "dymshape" any shape in
        the model's range. `custom_sizes` is accepted: outputs take what they need; so is `out_array`, arrays it is.
        """
        if len(feeds) != len(self.inputs):
            names = ", ".join(port.name for port in self.inputs)
            raise ValueError(f"{len(feeds)} arrays are fed, the model takes {len(self.inputs)}: {names}")
        arrays = [self._fitting(feed, port, mode) for feed, port in zip(feeds, self.inputs, strict=True)]
        checked("acl.rt.set_context", self.acl.rt.set_context(self.context))
        begun = time.perf_counter()
        for port, array in zip(self.inputs, arrays, strict=True):
            self.given.write(port.index, array)
        self.times.h2d_time_list.append(milliseconds(begun))
        shapes = [array.shape for array in arrays]
        gear.choose(self.acl, self.model, self.desc, self.given.handle, self.gear_index, mode, self.inputs, shapes)
        for _ in range(self.loop):
            self._execute()
        begun = time.perf_counter()
        results = [self._result(port) for port in self.outputs]
        self.times.d2h_time_list.append(milliseconds(begun))
        return results

    def _fitting(self, feed, port, mode):
        """The array, row after row, of the input's type and a shape that it takes."""
        if mode not in gear.MODES:
            raise ValueError(f"mode is {mode!r}; it is one of {', '.join(gear.MODES)}")
        if mode in ("dymbatch", "dymhw", "dymdims") and self.gear_index is None:
            raise ValueError(f"mode is {mode!r}, but the model was made for one size: leave mode out")
        array = self.numpy.asarray(feed, order="C")  # ascontiguousarray makes numbers lists
        if array.dtype != port.datatype:
            raise ValueError(f"{port.name} is of {array.dtype}; the model takes {port.datatype}: use astype")
        if not gear.fits(array.shape, port):
            raise ValueError(f"{port.name} has shape {array.shape}; the model takes {port.shape}")
        return array

    def _execute(self):
        for port in self.outputs:
            self.got.give_back(port.index)
        begun = time.perf_counter()
        code = self.acl.mdl.execute(self.model, self.given.handle, self.got.handle)
        self.times.exec_time_list.append(milliseconds(begun))
        checked("acl.mdl.execute", code)

    def _result(self, port):
        array = self.numpy.empty(self._shape(port), dtype=port.datatype)
        if array.nbytes:
            self.got.read(port.index, array)
        return array

    def _shape(self, port):
        """That of the run, which the data set knows; else that of the gear."""
        desc = self.acl.mdl.get_dataset_tensor_desc(self.got.handle, port.index)
        if desc:
            count = self.acl.get_tensor_desc_num_dims(desc)
            return [checked("dim", self.acl.get_tensor_desc_dim_v2(desc, axis)) for axis in range(count)]
        return checked("acl.mdl.get_cur_output_dims", self.acl.mdl.get_cur_output_dims(self.desc, port.index))["dims"]

    def summary(self):
        """Times of all runs so far, in milliseconds."""
        return self.times

    def reset_summary(self):
        self.times = Summary()

    def free_resource(self):
        """Unloads the model and frees its memory; the session is over."""
        if self.model is None:
            return
        checked("acl.rt.set_context", self.acl.rt.set_context(self.context))
        self.given.destroy()
        self.got.destroy()
        self.acl.mdl.destroy_desc(self.desc)
        checked("acl.mdl.unload", self.acl.mdl.unload(self.model))
        self.model = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.free_resource()


def milliseconds(begun):
    return (time.perf_counter() - begun) * 1000
