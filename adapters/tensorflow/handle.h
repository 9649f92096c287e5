// SPDX-License-Identifier: Apache-2.0
// Between TensorFlow's tensor handles and the engine's values. Nothing is copied: each side keeps the other's memory.
#pragma once

#include <string>

#include "adapters/tensorflow/owned.h"

namespace npu::tensorflow {

inline constexpr const char* kHost = "/job:localhost/replica:0/task:0/device:CPU:0";

/// TensorFlow's number of a dtype of the engine, and back; both raise for types without elements of whole bytes.
TF_DataType data_type(aclDataType dtype);
aclDataType engine_type(TF_DataType type);

/// The value behind a handle of `device`, or behind one of the host: numbers share the memory, anything else is an
/// object.
Value value_of(TFE_TensorHandle* handle, const std::string& device);
/// A handle that lives on `device`; objects of the client's come back as the handles they are.
TensorHandle device_handle(TFE_Context* context, const std::string& device, anynpu_value* value);
/// A handle of the host. Raises Unimplemented for variables and lists of tensors.
TensorHandle host_handle(anynpu_value* value);

anynpu_value_view inspect(const anynpu_value* value);

}  // namespace npu::tensorflow
