# SPDX-License-Identifier: Apache-2.0
"""Inputs and outputs of a model, as its description tells them."""

from dataclasses import dataclass

from anynpu.infer.runtime import checked

# aclDataType -> numpy; bfloat16, which numpy has not, is given as its 16 bits.
DTYPES = {
    0: "float32", 1: "float16", 2: "int8", 3: "int32", 4: "uint8", 6: "int16", 7: "uint16", 8: "uint32", 9: "int64",
    10: "uint64", 11: "float64", 12: "bool", 16: "complex64", 17: "complex128", 27: "uint16",
}  # fmt: skip
FORMATS = {0: "NCHW", 1: "NHWC", 2: "ND"}
GEAR = "ascend_mbatch_shape_data"  # the input through which the size of a run is chosen


@dataclass(frozen=True)
class Port:
    """`shape` has -1 where the gear or the caller decides; `size` and `realsize` are bytes, of the largest gear."""

    name: str
    datatype: str
    format: str
    shape: tuple
    size: int
    index: int

    @property
    def realsize(self):
        return self.size


def ports(acl, desc, side):
    """All inputs, or all outputs, of a description."""
    get = {name: getattr(acl.mdl, f"get_{side}_{name}") for name in ("dims", "data_type", "format", "size_by_index")}
    found = []
    for index in range(getattr(acl.mdl, f"get_num_{side}s")(desc)):
        kind = get["data_type"](desc, index)
        if kind not in DTYPES:
            raise RuntimeError(f"{side} {index} is of aclDataType {kind}, which numpy has not")
        found.append(
            Port(
                getattr(acl.mdl, f"get_{side}_name_by_index")(desc, index),
                DTYPES[kind],
                FORMATS.get(get["format"](desc, index), "ND"),
                tuple(checked(f"acl.mdl.get_{side}_dims", get["dims"](desc, index))["dims"]),
                get["size_by_index"](desc, index),
                index,
            )
        )
    return found
