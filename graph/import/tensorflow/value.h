// SPDX-License-Identifier: Apache-2.0
// TensorFlow's DataType, TensorShapeProto, TensorProto and AttrValue as values of ours.
#pragma once

#include "graph/import/tensorflow/proto.h"
#include "graph/ir/attribute.h"

namespace npu::graph::tensorflow {

/// Reference types (VariableV2) count as the type they refer to. Types we have no element for (quantised, float8) give
/// a tensor of kUndefined: only the client's framework can compute on them.
ValueType value_type(int64_t data_type);
/// The DataType of an object, or of a tensor whose dtype TensorFlow has.
int64_t data_type(const ValueType& type);
/// The bytes of an AttrValue: the type of an object or of a tensor whose dtype TensorFlow has, a text, or a bool.
/// Raises 500000 for any other.
std::string write_attribute(const Attribute& value);
PartialShape read_shape(Bytes shape);
/// Raises 100006 when the content does not fit the shape and type.
Literal read_literal(Bytes tensor);
/// Kinds of values that no node of ours reads (placeholders) give std::monostate.
Attribute read_attribute(Bytes attr_value);

}  // namespace npu::graph::tensorflow
