// SPDX-License-Identifier: Apache-2.0
#include "adapters/tensorflow/host/host.h"

#include <protozero/pbf_writer.hpp>

#include "adapters/tensorflow/c_api/message.h"

namespace npu::tensorflow {
namespace {

/// "{{function_node __wrapped__…}} text" -> "text": the wrapper is ours, not the user's function.
std::string without_wrapper(const std::string& message) {
  const std::string_view start = "{{function_node __wrapped__", end = "}} ";
  if (!message.starts_with(start)) return message;
  const size_t at = message.find(end);
  return at == std::string::npos ? message : message.substr(at + end.size());
}

}  // namespace

std::string type_value(TF_DataType type) {
  std::string bytes;
  protozero::pbf_writer(bytes).add_enum(field::kType, type);
  return bytes;
}

std::vector<TensorHandle> run_on_host(TFE_Context* context, const char* op, const TFE_OpAttrs* attributes,
                                      std::span<const Attribute> more, std::span<TFE_TensorHandle* const> inputs,
                                      size_t output_count) {
  const Operation operation(checked(TFE_NewOp, context, op));
  checked(TFE_OpSetDevice, operation.get(), kHost);
  if (attributes != nullptr) TFE_OpAddAttrs(operation.get(), attributes);
  for (const auto& [name, bytes] : more)
    if (!name.starts_with('_'))
      checked(TFE_OpSetAttrValueProto, operation.get(), name.c_str(), static_cast<const void*>(bytes.data()),
              bytes.size());
  for (TFE_TensorHandle* input : inputs) checked(TFE_OpAddInput, operation.get(), input);
  std::vector<TFE_TensorHandle*> raw(output_count + 1);
  auto count = static_cast<int>(output_count);
  try {
    checked(TFE_Execute, operation.get(), raw.data(), &count);
  } catch (const Failure& e) {
    throw Failure(e.code(), without_wrapper(e.what()));
  }
  std::vector<TensorHandle> outputs;
  for (int i = 0; i < count; ++i) outputs.emplace_back(raw[static_cast<size_t>(i)]);
  return outputs;
}

}  // namespace npu::tensorflow
