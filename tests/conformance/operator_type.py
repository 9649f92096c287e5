# SPDX-License-Identifier: Apache-2.0
"""Calls of single operators by the name of their type, through ctypes."""

import csv
import ctypes as C

import torch

from device import DTYPES, LIB, ROOT, DeviceTensor, check

for name in ("aclCreateTensorDesc", "aclCreateDataBuffer", "aclopCreateAttr"):
    getattr(LIB, name).restype = C.c_void_p
LIB.aclGetTensorDescDim.restype = C.c_int64

TABLE = ROOT / "acl/singleop/operator_types.tsv"


def types():
    """Type -> its row."""
    with TABLE.open(encoding="utf-8") as file:
        return {row["type"]: row for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)}


class Host:
    """An input whose values are known before the call."""

    def __init__(self, values, dtype=torch.int64):
        self.tensor = torch.tensor(values, dtype=dtype)


class Side:
    """Descriptions and buffers of one side of a call."""

    def __init__(self, device):
        self.device, self.descs, self.buffers, self.tensors = device, [], [], []

    def add(self, value):
        tensor = value.tensor if isinstance(value, Host) else value
        if tensor is None:
            self._append(C.c_void_p(LIB.aclCreateTensorDesc(-1, 0, None, -1)), None, 0)
            return
        dims = (C.c_int64 * max(tensor.dim(), 1))(*tensor.shape)
        desc = C.c_void_p(LIB.aclCreateTensorDesc(DTYPES[tensor.dtype], tensor.dim(), dims, 2))
        if isinstance(value, Host):
            raw = tensor.contiguous().numpy().tobytes()
            check(LIB.aclSetTensorConst(desc, raw, C.c_size_t(len(raw))))
            self._append(desc, None, 0)
            return
        self.append_memory(desc, DeviceTensor(self.device, tensor.clone(memory_format=torch.contiguous_format)))

    def append_memory(self, desc, memory):
        self._append(desc, memory, memory.size)

    def _append(self, desc, memory, size):
        self.descs.append(desc)
        self.buffers.append(C.c_void_p(LIB.aclCreateDataBuffer(memory.pointer if memory else None, C.c_size_t(size))))
        self.tensors.append(memory)

    def arguments(self):
        count = len(self.descs)
        return (
            count,
            (C.c_void_p * max(count, 1))(*[d.value for d in self.descs]),
            (C.c_void_p * max(count, 1))(*[b.value for b in self.buffers]),
        )

    def destroy(self):
        for desc, buffer in zip(self.descs, self.buffers, strict=True):
            LIB.aclDestroyTensorDesc(desc)
            LIB.aclDestroyDataBuffer(buffer)


def _set(attributes, name, value):
    key = name.encode()
    if isinstance(value, bool):
        check(LIB.aclopSetAttrBool(attributes, key, C.c_uint8(value)))
    elif isinstance(value, int):
        check(LIB.aclopSetAttrInt(attributes, key, C.c_int64(value)))
    elif isinstance(value, float):
        check(LIB.aclopSetAttrFloat(attributes, key, C.c_float(value)))
    elif isinstance(value, str):
        check(LIB.aclopSetAttrString(attributes, key, value.encode()))
    elif value and isinstance(value[0], float):
        check(LIB.aclopSetAttrListFloat(attributes, key, len(value), (C.c_float * len(value))(*value)))
    else:
        check(LIB.aclopSetAttrListInt(attributes, key, len(value), (C.c_int64 * max(len(value), 1))(*value)))


def call(device, type_name, inputs, outputs, attributes, continued=(), wait=False):
    """Runs `type_name` and gives back its outputs. `continued`: output -> the input whose memory it is. With `wait`
    the form that waits is called, and outputs have the sizes it tells."""
    given, made, attr = Side(device), Side(device), C.c_void_p(LIB.aclopCreateAttr())
    try:
        for value in inputs:
            given.add(value)
        for index, tensor in enumerate(outputs):
            if index in dict(continued):
                memory = given.tensors[dict(continued)[index]]
                dims = (C.c_int64 * max(tensor.dim(), 1))(*tensor.shape)
                made.append_memory(
                    C.c_void_p(LIB.aclCreateTensorDesc(DTYPES[tensor.dtype], tensor.dim(), dims, 2)), memory
                )
            else:
                made.add(tensor)
        for name, value in attributes.items():
            _set(attr, name, value)
        function = LIB.aclopCompileAndExecuteV2 if wait else LIB.aclopCompileAndExecute
        check(function(type_name.encode(), *given.arguments(), *made.arguments(), attr, 0, 0, None, device.stream))
        check(LIB.aclrtSynchronizeStream(device.stream))
        results = [memory.read() for memory in made.tensors]
        if wait:
            sizes = [
                [LIB.aclGetTensorDescDim(d, i) for i in range(r.dim())]
                for d, r in zip(made.descs, results, strict=True)
            ]
            results = [r.flatten()[: torch.Size(s).numel()].reshape(s) for r, s in zip(results, sizes, strict=True)]
        return results
    finally:
        given.destroy()
        made.destroy()
        LIB.aclopDestroyAttr(attr)
