# SPDX-License-Identifier: Apache-2.0
"""The messages of dumped graphs, as their readers know them: the vendor's ModelDef and the part of ONNX it writes."""

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

GE = """
ModelDef: name=s version=i graph=*GraphDef
GraphDef: name=s input=*s output=*s op=*OpDef attr=*Entry
OpDef: name=s type=s input=*s attr=*Entry id=i is_input_const=*b input_desc=*Tensor output_desc=*Tensor dst_name=*s dst_index=*i subgraph_name=*s
Tensor: name=s dtype=Type shape=Shape layout=s attr=*Entry size=i
Shape: dim=*i
Entry: key=s value=AttrDef
AttrDef: list=List s=y i=i f=f b=b func=Named td=Tensor t=TensorDef dt=Type
List: s=*y i=*i f=*f b=*b td=*Tensor t=*TensorDef dt=*Type
Named: name=s
TensorDef: desc=Tensor data=y
Type: DT_UNDEFINED DT_FLOAT DT_FLOAT16 DT_INT8 DT_UINT8 DT_INT16 DT_UINT16 DT_INT32 DT_INT64 DT_UINT32 DT_UINT64 DT_BOOL DT_DOUBLE DT_STRING DT_COMPLEX64 DT_COMPLEX128 DT_RESOURCE DT_VARIANT DT_BF16
"""  # noqa: E501
ONNX = """
ModelProto: ir_version=i producer_name=s graph=Graph
Graph: node=*Node name=s input=*Value output=*Value
Node: input=*s output=*s name=s op_type=s attribute=*Attribute
Attribute: name=s f=f i=i s=y t=Data floats=*f ints=*i type=Kind
Data: dims=*i data_type=i raw_data=y
Value: name=s type=ValueType
ValueType: tensor_type=TensorType
TensorType: elem_type=i shape=Shape
Shape: dim=*Dim
Dim: dim_value=i
Kind: UNDEFINED FLOAT INT STRING TENSOR GRAPH FLOATS INTS
"""
SCALARS = {"s": 9, "y": 12, "i": 3, "f": 2, "b": 8}  # FieldDescriptorProto.Type; text format does not tell f from d


def _field(message, number, text, package, enums):
    name, kind = text.split("=")
    repeated, kind = kind.startswith("*"), kind.lstrip("*")
    field = message.field.add(name=name, number=number, label=3 if repeated else 1)
    if kind in SCALARS:
        field.type = SCALARS[kind]
    else:
        field.type, field.type_name = (14 if kind in enums else 11), f".{package}.{kind}"


def of(declaration, package):
    """{name: message class} of a declaration like those above."""
    lines = [line.split(": ") for line in declaration.strip().splitlines()]
    enums = {name for name, members in lines if "=" not in members}
    file = descriptor_pb2.FileDescriptorProto(name=f"{package}.proto", package=package, syntax="proto2")
    for name, members in lines:
        if name in enums:
            enum = file.enum_type.add(name=name)
            for number, member in enumerate(members.split()):
                enum.value.add(name=member, number=number)
            continue
        message = file.message_type.add(name=name)
        for number, member in enumerate(members.split(), 1):
            _field(message, number, member, package, enums)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {n: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{package}.{n}"))
            for n, _ in lines if n not in enums}  # fmt: skip
