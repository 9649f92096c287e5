// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>

#include "acl/acl_base.h"
#include "adapters/tensorflow/c_api/tf_api.h"

namespace npu::tensorflow {

/// TensorFlow's number of a dtype of the engine; raises Unimplemented for types that it does not have.
TF_DataType data_type(aclDataType dtype);
/// And back; none for types without elements of whole bytes.
std::optional<aclDataType> engine_type(TF_DataType type);
/// Bytes of one element; 0 for types without elements of whole bytes.
size_t bytes_of(TF_DataType type);

}  // namespace npu::tensorflow
