// SPDX-License-Identifier: Apache-2.0
// aclopCompileAndExecute: a call by operator type becomes a prepared operator in a stream.
#include <memory>
#include <span>

#include "acl/aclnn/launch.h"
#include "acl/include/acl/acl_op_compiler.h"
#include "acl/runtime/call.h"
#include "acl/singleop/description.h"
#include "acl/singleop/operator_type.h"
#include "base/tensor.h"
#include "device/memory.h"
#include "device/stream.h"

namespace npu::acl {
namespace {

/// A prepared operator, and copies of the inputs that came as host memory.
struct Prepared {
  std::unique_ptr<ops::Operator> op;
  std::vector<std::vector<std::byte>> aside;
};

/// One side (inputs or outputs) of the client's call.
struct Side {
  const char* word;  ///< "input" or "output"
  std::span<const aclTensorDesc* const> descs;
  std::span<const aclDataBuffer* const> buffers;
  std::span<const std::string_view> fields;
};

template <class T>
std::span<const T> span_of(int count, const T* values, const char* argument) {
  if (count < 0) fail(Code::kInvalidParam, "the number of {} is {}; it must not be negative", argument, count);
  if (count > 0) given(values, argument);
  return {values, static_cast<size_t>(count)};
}

/// Host bytes an input's values come from: a constant, or a buffer in host memory.
std::span<const std::byte> host_values(const aclTensorDesc& desc, const aclDataBuffer& buffer) {
  if (!desc.constant.empty()) return desc.constant;
  if (desc.placement != ACL_MEMTYPE_DEVICE) return {static_cast<const std::byte*>(buffer.data), buffer.size};
  return {};
}

void* memory_of(const aclTensorDesc& desc, const aclDataBuffer& buffer, size_t bytes, const std::string& argument,
                Prepared& call) {
  const std::span<const std::byte> host = host_values(desc, buffer);
  const size_t available = host.empty() ? buffer.size : host.size();
  if (available < bytes)
    fail(Code::kInvalidParam, "{} needs {} bytes, its buffer has {}; pass a larger buffer", argument, bytes, available);
  if (!host.empty()) {
    call.aside.emplace_back(host.begin(), host.begin() + static_cast<ptrdiff_t>(bytes));
    return call.aside.back().data();
  }
  device::check_live(buffer.data, bytes, device::kAnyDevice, argument.c_str());
  return device::resolve(buffer.data, bytes);
}

Tensor tensor_of(const Side& side, size_t i, Prepared& call) {
  const std::string argument = fmt::format("{} {}", side.word, i);
  const aclTensorDesc& desc = described(side.descs[i], argument.c_str());
  if (desc.dtype == DType::kUndefined) return {};
  const int64_t count = desc.count();
  if (count < 0 || desc.dims.size() > kMaxRank)
    fail(Code::kInvalidParam, "{} has unknown sizes or more than {} dimensions; give its true sizes", argument,
         kMaxRank);
  if (size_of(desc.dtype) == 0)
    fail(Code::kUnsupportedDataType, "{} has dataType {}, which no operator here computes", argument,
         static_cast<int>(desc.dtype));
  const aclDataBuffer& buffer = described(side.buffers[i], argument.c_str());
  const size_t bytes = static_cast<size_t>(count) * size_of(desc.dtype);
  void* data = bytes == 0 ? buffer.data : memory_of(desc, buffer, bytes, argument, call);
  Tensor tensor = make_tensor(data, desc.dtype, Dims(std::span<const int64_t>(desc.dims)));
  tensor.format = desc.format;
  return tensor;
}

void assign(const ops::OperatorDef& def, std::string_view name, Tensor tensor, ops::Operator& op) {
  const ops::Field* field = def.field(name);
  void* member = field->locate(op);
  if (field->kind == ops::FieldKind::kOperand)
    static_cast<ops::Operand*>(member)->tensor = std::move(tensor);
  else
    *static_cast<Tensor*>(member) = std::move(tensor);
}

void assign_side(const OperatorType& type, const ops::OperatorDef& def, const Side& side, Prepared& call) {
  if (side.descs.size() != side.fields.size())
    fail(Code::kInvalidParam, "{} takes {} {}s, got {}", type.type, side.fields.size(), side.word, side.descs.size());
  for (size_t i = 0; i < side.fields.size(); ++i) {
    if (!side.fields[i].empty()) assign(def, side.fields[i], tensor_of(side, i, call), *call.op);
  }
}

// A number stays at the operator's default where the client does not give it.
void assign_numbers(const OperatorType& type, const ops::OperatorDef& def, const aclopAttr* attributes,
                    Prepared& call) {
  for (const std::string_view name : type.numbers) {
    if (attributes == nullptr) return;
    const auto found = attributes->values.find(name);
    if (found == attributes->values.end()) continue;
    auto* member = static_cast<double*>(def.field(name)->locate(*call.op));
    if (const auto* real = std::get_if<float>(&found->second))
      *member = static_cast<double>(*real);
    else if (const auto* whole = std::get_if<int64_t>(&found->second))
      *member = static_cast<double>(*whole);
    else
      fail(Code::kInvalidParam, "attribute {} of {} must be a number", name, type.type);
  }
}

/// Operators on the state of a device are told which.
void assign_device(const ops::OperatorDef& def, int device, Prepared& call) {
  if (const ops::Field* field = def.field("device")) *static_cast<int64_t*>(field->locate(*call.op)) = device;
}

const OperatorType& operator_type(const char* name) {
  if (const OperatorType* type = find_operator_type(given(name, "opType"))) return *type;
  fail(Code::kOpNotFound,
       "opType {} is not known as a single operator; use the aclnn function of the same purpose, or one "
       "of: {}",
       name, known_operator_types());
}

void enqueue(const OperatorType& type, std::shared_ptr<Prepared> call, device::Stream& stream) {
  device::Task task;
  task.name = type.type.data();  // a literal
  task.cost_ns = call->op->cost();
  task.body = [call = std::move(call), name = task.name, device = stream.device()] {
    run_on_device(device, name, *call->op);
  };
  stream.launch(std::move(task));
}

}  // namespace
}  // namespace npu::acl

using namespace npu;       // NOLINT: the C functions below are the door itself
using namespace npu::acl;  // NOLINT

aclError aclopCompileAndExecute(const char* opType, int numInputs, const aclTensorDesc* const inputDesc[],
                                const aclDataBuffer* const inputs[], int numOutputs,
                                const aclTensorDesc* const outputDesc[], aclDataBuffer* const outputs[],
                                const aclopAttr* attr, aclopEngineType, aclopCompileType, const char*,
                                aclrtStream stream) {
  return call("aclopCompileAndExecute", [&] {
    const OperatorType& type = operator_type(opType);
    if (attr != nullptr) described(attr, "attr");
    const ops::OperatorDef& def = *ops::find_operator(type.name);
    auto prepared = std::make_shared<Prepared>();
    prepared->op = ops::create(def);
    assign_side(
        type, def,
        {"input", span_of(numInputs, inputDesc, "inputDesc"), span_of(numInputs, inputs, "inputs"), type.inputs},
        *prepared);
    const auto* written = const_cast<const aclDataBuffer* const*>(outputs);
    assign_side(type, def,
                {"output", span_of(numOutputs, outputDesc, "outputDesc"), span_of(numOutputs, written, "outputs"),
                 type.outputs},
                *prepared);
    assign_numbers(type, def, attr, *prepared);
    device::Stream& queue = device::stream_from_handle(stream);
    assign_device(def, queue.device(), *prepared);
    prepared->op->prepare();
    enqueue(type, std::move(prepared), queue);
  });
}

aclError aclopSetCompileFlag(aclOpCompileFlag flag) {
  return call("aclopSetCompileFlag", [&] {
    if (flag != ACL_OP_COMPILE_DEFAULT && flag != ACL_OP_COMPILE_FUZZ)
      fail(Code::kInvalidParam, "flag is {}; it is 0 (default) or 1 (fuzz)", static_cast<int>(flag));
  });
}
