# SPDX-License-Identifier: Apache-2.0
"""A client of the C interface in a few lines: device memory, aclnn objects and two-phase calls through ctypes.

Tensors are described by torch CPU tensors; `DeviceTensor` puts their storage on the device with the same strides.
"""

import ctypes as C
import os
import pathlib

os.environ.setdefault("TORCH_DEVICE_BACKEND_AUTOLOAD", "0")  # the oracle is torch on the CPU
import torch

ROOT = pathlib.Path(__file__).resolve().parents[2]

DTYPES = {
    torch.float32: 0,
    torch.float16: 1,
    torch.int8: 2,
    torch.int32: 3,
    torch.uint8: 4,
    torch.int16: 6,
    torch.int64: 9,
    torch.float64: 11,
    torch.bool: 12,
    torch.complex64: 16,
    torch.complex128: 17,
    torch.bfloat16: 27,
}
SCALAR_TYPES = {bool: (C.c_bool, 12), int: (C.c_int64, 9), float: (C.c_double, 11)}
NUMBER_TYPES = {
    "i64": C.c_int64,
    "u64": C.c_uint64,
    "i32": C.c_int32,
    "i8": C.c_int8,
    "bool": C.c_bool,
    "double": C.c_double,
    "float": C.c_float,
    "real": C.c_double,
    "dtype": C.c_int32,
}


class CallError(Exception):
    """A refused call: `code` and the library's text."""

    def __init__(self, code, text):
        super().__init__(f"{code}: {text}")
        self.code, self.text = code, text


def _library():
    path = os.environ.get("ANYNPU_LIBRARY")
    candidates = [path] if path else [str(p) for p in ROOT.glob("build/**/libanynpu.so")]
    if not candidates:
        raise FileNotFoundError("libanynpu.so is not built; run `make test` or `ninja -C build`")
    return C.CDLL(candidates[0])


LIB = _library()
for name in ["Tensor", "Scalar", "IntArray", "BoolArray", "FloatArray", "TensorList", "ScalarList"]:
    getattr(LIB, f"aclCreate{name}").restype = C.c_void_p
LIB.aclGetRecentErrMsg.restype = C.c_char_p


def check(code):
    if code:
        raise CallError(code, (LIB.aclGetRecentErrMsg() or b"").decode())


class Device:
    """Device 0 with one stream. Memory is bump-allocated per call and freed together."""

    def __init__(self):
        code = LIB.aclInit(None)
        if code not in (0, 100002):
            check(code)
        check(LIB.aclrtSetDevice(0))
        self.stream = C.c_void_p()
        check(LIB.aclrtCreateStream(C.byref(self.stream)))
        self.blocks = []

    def upload(self, data: bytes):
        pointer = C.c_void_p()
        check(LIB.aclrtMalloc(C.byref(pointer), C.c_size_t(max(len(data), 1)), 0))
        self.blocks.append(pointer)
        if data:
            check(LIB.aclrtMemcpy(pointer, C.c_size_t(len(data)), data, C.c_size_t(len(data)), 1))
        return pointer

    def download(self, pointer, size):
        buffer = C.create_string_buffer(max(size, 1))
        if size:
            check(LIB.aclrtMemcpy(buffer, C.c_size_t(size), pointer, C.c_size_t(size), 2))
        return buffer.raw[:size]

    def release(self):
        for block in self.blocks:
            check(LIB.aclrtFree(block))
        self.blocks = []


class DeviceTensor:
    """The storage of `tensor` on the device; `read()` gives it back with the same strides."""

    def __init__(self, device: Device, tensor: torch.Tensor):
        self.device, self.host = device, tensor
        storage = tensor.untyped_storage()
        self.size = len(storage)
        raw = torch.empty(0, dtype=torch.uint8).set_(storage) if self.size else None
        self.storage = [self.size // tensor.element_size()]
        self.pointer = device.upload(raw.numpy().tobytes() if self.size else b"")
        self.handle = None

    def create(self, form=None):
        t = self.host
        dims = (C.c_int64 * max(t.dim(), 1))(*t.shape)
        strides = (C.c_int64 * max(t.dim(), 1))(*t.stride())
        elements = (C.c_int64 * len(self.storage))(*self.storage)
        form = form or {3: 47, 4: 0, 5: 30}.get(t.dim(), 2)
        self.handle = LIB.aclCreateTensor(
            dims, C.c_uint64(t.dim()), DTYPES[t.dtype], strides, C.c_int64(t.storage_offset()), form, elements,
            C.c_uint64(len(self.storage)), self.pointer,
        )  # fmt: skip
        if not self.handle:
            raise CallError(-1, (LIB.aclGetRecentErrMsg() or b"").decode())
        return C.c_void_p(self.handle)

    @classmethod
    def of(cls, device, tensor, blocked=False):
        """`tensor` on the device, in blocks where that is asked for and its type and strides let it."""
        if not blocked or tensor.dim() < 2 or tensor.dtype not in BlockedTensor.WIDTH or tensor.storage_offset():
            return cls(device, tensor)
        whole = tensor.is_contiguous() or tensor.mT.is_contiguous()
        return BlockedTensor(device, tensor) if whole else cls(device, tensor)

    def view_shape(self):
        """The shape after the run, for outputs whose size depends on data."""
        dims, count = C.POINTER(C.c_int64)(), C.c_uint64()
        check(LIB.aclGetViewShape(C.c_void_p(self.handle), C.byref(dims), C.byref(count)))
        return [dims[i] for i in range(count.value)]

    def read(self):
        raw = bytearray(self.device.download(self.pointer, self.size))
        storage = torch.frombuffer(raw, dtype=torch.uint8).untyped_storage() if raw else None
        t = self.host
        if storage is None:
            return torch.empty_strided(t.shape, t.stride(), dtype=t.dtype)
        return torch.empty(0, dtype=t.dtype).set_(storage, t.storage_offset(), t.shape, t.stride())


class BlockedTensor(DeviceTensor):
    """A whole tensor, or the transpose of one, as torch-npu casts it to ACL_FORMAT_FRACTAL_NZ (29)."""

    WIDTH = {torch.float32: 16, torch.float16: 16, torch.bfloat16: 16, torch.int8: 32}

    def __init__(self, device, tensor):
        base = tensor if tensor.is_contiguous() else tensor.mT
        width = self.WIDTH[base.dtype]
        padding = (0, -base.shape[-1] % width, 0, -base.shape[-2] % 16)
        blocks = torch.nn.functional.pad(base, padding).unflatten(-1, (-1, width)).unflatten(-3, (-1, 16))
        blocks = blocks.movedim(-2, -4).contiguous()
        super().__init__(device, blocks)
        self.host, self.storage = tensor, list(blocks.shape)

    def create(self):
        return super().create(29)


def _scalar(value):
    if isinstance(value, complex):
        buffer, code = (C.c_double * 2)(value.real, value.imag), 17
    else:
        kind, code = SCALAR_TYPES[type(value)]
        buffer = kind(value)
    return C.c_void_p(LIB.aclCreateScalar(C.byref(buffer), code))


def _array(kind, ctype, values):
    data = (ctype * max(len(values), 1))(*values)
    return C.c_void_p(getattr(LIB, f"aclCreate{kind}")(data, C.c_uint64(len(values))))


def _list(kind, handles):
    data = (C.c_void_p * max(len(handles), 1))(*[h.value for h in handles])
    return C.c_void_p(getattr(LIB, f"aclCreate{kind}")(data, C.c_uint64(len(handles))))


def _argument(word, value, keep):
    """One C argument of type `word`; objects to destroy are added to `keep`."""
    if word in NUMBER_TYPES:
        if word == "dtype":
            value = DTYPES[value] if isinstance(value, torch.dtype) else value
        return NUMBER_TYPES[word](value)
    if word == "str":
        return C.c_char_p(None if value is None else value.encode())
    if value is None:
        return C.c_void_p(None)
    if word in ("tensor", "packed", "blocked"):
        made, kind = value.create(), "Tensor"
    elif word in ("tensor[]", "blocked[]"):
        members = [C.c_void_p(None) if v is None else v.create() for v in value]
        made, kind = _list("TensorList", members), "TensorList"
    elif word == "scalar":
        made, kind = _scalar(value), "Scalar"
    elif word == "scalar[]":
        made, kind = _list("ScalarList", [_scalar(v) for v in value]), "ScalarList"
    elif word == "int[]":
        made, kind = _array("IntArray", C.c_int64, value), "IntArray"
    elif word == "bool[]":
        made, kind = _array("BoolArray", C.c_bool, value), "BoolArray"
    else:
        raise ValueError(f"argument word {word}")
    keep.append((kind, made))
    return made


def call(device: Device, name: str, words, values):
    """Runs `name` on the device's stream and waits for it. Raises CallError with the library's text."""
    keep = []
    try:
        args = [_argument(word, value, keep) for word, value in zip(words, values, strict=True)]
        size, executor = C.c_uint64(), C.c_void_p()
        check(getattr(LIB, name + "GetWorkspaceSize")(*args, C.byref(size), C.byref(executor)))
        workspace = device.upload(b"\0" * size.value) if size.value else C.c_void_p()
        check(getattr(LIB, name)(workspace, size, executor, device.stream))
        check(LIB.aclrtSynchronizeStream(device.stream))
        for tensor in (v for v in values if isinstance(v, DeviceTensor)):
            tensor.final_shape = tensor.view_shape()
    finally:
        for kind, handle in keep:
            getattr(LIB, f"aclDestroy{kind}")(handle)
