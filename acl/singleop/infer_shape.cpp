// SPDX-License-Identifier: Apache-2.0
// aclopInferShape: the sizes that an operator type gives for those it takes. Kernels check the sizes of results that
// clients describe, so these rules serve clients who ask first; a type without a rule is refused by name.
#include <algorithm>
#include <numeric>

#include "acl/call.h"
#include "acl/include/acl/acl_op.h"
#include "acl/include/acl/acl_rt.h"
#include "acl/singleop/description.h"
#include "acl/singleop/operator_type.h"
#include "acl/singleop/value.h"
#include "device/memory/memory.h"

namespace npu::acl {
namespace {

using Sizes = std::vector<int64_t>;

/// One call: what the client described.
struct Asked {
  std::string_view type;
  std::vector<Sizes> inputs;
  std::span<const aclTensorDesc* const> descs;
  std::span<const aclDataBuffer* const> buffers;
  const aclopAttr* attributes;

  const Sizes& input(size_t i) const {
    if (i >= inputs.size()) fail(Code::kInvalidParam, "{} needs an input {}, {} are given", type, i, inputs.size());
    return inputs[i];
  }
  const aclopAttr::Value* attribute(std::string_view name) const {
    if (attributes == nullptr) return nullptr;
    const auto at = attributes->values.find(name);
    return at == attributes->values.end() ? nullptr : &at->second;
  }
  bool flag(std::string_view name) const {
    const aclopAttr::Value* value = attribute(name);
    return value != nullptr && truth_of({.content = *value}, name);
  }
  Sizes numbers(size_t i) const;  ///< that input `i` holds
  /// Of an attribute, or of an input where the type takes them so.
  Sizes numbers(std::string_view name, size_t i) const {
    const aclopAttr::Value* value = attribute(name);
    return value == nullptr ? numbers(i) : integers_of({.content = *value}, name);
  }
};

/// The bytes of an input whose values decide: a constant, host memory, or device memory after all work so far.
std::vector<std::byte> bytes_of(const aclTensorDesc& desc, const aclDataBuffer& buffer, std::string_view what) {
  if (!desc.constant.empty()) return desc.constant;
  const auto* data = static_cast<const std::byte*>(buffer.data);
  if (data == nullptr) fail(Code::kInvalidParam, "the buffer of {} has no memory; its values decide the sizes", what);
  if (!device::is_device_address(data)) return {data, data + buffer.size};
  std::vector<std::byte> out(buffer.size);
  aclrtSynchronizeDevice();
  if (aclrtMemcpy(out.data(), out.size(), data, out.size(), ACL_MEMCPY_DEVICE_TO_HOST) != ACL_SUCCESS)
    fail(Code::kInvalidParam, "the values of {} cannot be read from device memory", what);
  return out;
}

Sizes Asked::numbers(size_t i) const {
  const std::string what = fmt::format("input {} of {}", i, type);
  if (i >= buffers.size()) fail(Code::kInvalidParam, "{} is not given; its values decide the sizes", what);
  const aclTensorDesc& desc = described(descs[i], "inputDesc");
  std::vector<std::byte> bytes = bytes_of(desc, described(buffers[i], "inputs"), what);
  const auto wanted = static_cast<size_t>(std::max<int64_t>(desc.count(), 0)) * size_of(desc.dtype);
  if (bytes.size() < wanted)
    fail(Code::kInvalidParam, "{} needs {} bytes, its buffer has {}; pass a larger buffer", what, wanted, bytes.size());
  return integers_of({.content = make_tensor(bytes.data(), desc.dtype, Dims(std::span(desc.dims))), .host = true},
                     what);
}

// -1 is a size that nobody knows yet: it may be 1.
int64_t broadcast_size(int64_t a, int64_t b, const Asked& asked) {
  if (a == b || b == 1) return a;
  if (a == 1) return b;
  if (a < 0 || b < 0) return std::max(a, b);
  fail(Code::kInvalidParam, "{}: sizes {} and {} do not fit together; they must be equal, or one of them 1", asked.type,
       a, b);
}

Sizes broadcast(Sizes a, Sizes b, const Asked& asked) {
  if (a.size() < b.size()) std::swap(a, b);
  for (size_t i = 1; i <= b.size(); ++i) a[a.size() - i] = broadcast_size(a[a.size() - i], b[b.size() - i], asked);
  return a;
}

Sizes all_together(const Asked& asked) {
  return std::accumulate(asked.inputs.begin(), asked.inputs.end(), Sizes(),
                         [&](Sizes a, const Sizes& b) { return broadcast(std::move(a), b, asked); });
}

Sizes as_the_first(const Asked& asked) { return asked.input(0); }

size_t axis_of(int64_t axis, size_t rank, const Asked& asked) {
  const auto count = static_cast<int64_t>(rank);
  if (axis < -count || axis >= count)
    fail(Code::kInvalidParam, "{}: there is no axis {}; the input has {}", asked.type, axis, rank);
  return static_cast<size_t>(axis < 0 ? axis + count : axis);
}

Sizes transposed(const Asked& asked) {
  const Sizes &x = asked.input(0), order = asked.numbers("perm", 1);
  if (order.size() != x.size())
    fail(Code::kInvalidParam, "{}: perm has {} axes, the input has {}", asked.type, order.size(), x.size());
  Sizes out;
  for (const int64_t axis : order) out.push_back(x[axis_of(axis, x.size(), asked)]);
  return out;
}

Sizes multiplied(const Asked& asked) {
  Sizes a = asked.input(0), b = asked.input(1);
  if (a.size() < 2 || b.size() < 2)
    fail(Code::kInvalidParam, "{} multiplies matrices; inputs have {} and {} axes", asked.type, a.size(), b.size());
  if (asked.flag("transpose_x1") || asked.flag("adj_x1")) std::swap(a[a.size() - 2], a.back());
  if (asked.flag("transpose_x2") || asked.flag("adj_x2")) std::swap(b[b.size() - 2], b.back());
  const int64_t inner = a.back(), other = b[b.size() - 2], columns = b.back();
  if (inner != other && inner >= 0 && other >= 0)
    fail(Code::kInvalidParam, "{}: inner sizes differ ({} and {})", asked.type, inner, other);
  a.pop_back();
  const int64_t rows = a.back();
  a.pop_back();
  b.resize(b.size() - 2);
  Sizes out = broadcast(a, b, asked);
  out.insert(out.end(), {rows, columns});
  return out;
}

Sizes reduced(const Asked& asked) {
  const Sizes& x = asked.input(0);
  std::vector<bool> gone(x.size());
  for (const int64_t axis : asked.numbers("axes", 1)) gone[axis_of(axis, x.size(), asked)] = true;
  Sizes out;
  for (size_t i = 0; i < x.size(); ++i) {
    if (!gone[i]) out.push_back(x[i]);
    if (gone[i] && asked.flag("keep_dims")) out.push_back(1);
  }
  return out;
}

using Rule = Sizes (*)(const Asked&);
struct NamedRule {
  std::string_view types;  ///< with a blank around each
  Rule rule;
};
constexpr NamedRule kRules[] = {
    {" Transpose TransposeD ", transposed},
    {" MatMul MatMulV2 BatchMatMul BatchMatMulV2 ", multiplied},
    {" ReduceSum ReduceSumD ReduceMean ReduceMeanD ReduceMax ReduceMaxD ReduceMin ReduceMinD ReduceProd ReduceProdD "
     "ReduceAll ReduceAny ",
     reduced},
    {" Softmax SoftmaxV2 LogSoftmaxV2 Cast Identity ", as_the_first},
};

/// Whether each element of the only result comes from those of the inputs at its place: no view turns them about.
bool is_pointwise(const OperatorType& type) {
  return type.def->is(ops::kPointwise) && type.outputs.size() == 1 &&
         std::ranges::all_of(type.inputs,
                             [](const Slot& slot) { return slot.use == Slot::Use::kRead && !slot.list; }) &&
         std::ranges::all_of(type.fields, [](const FieldSource& field) { return field.function.empty(); });
}

Rule rule_of(std::string_view type) {
  for (const NamedRule& one : kRules)
    if (one.types.find(fmt::format(" {} ", type)) != std::string_view::npos) return one.rule;
  const auto rows = find_operator_type(type);
  if (rows.empty()) fail(Code::kOpNotFound, "opType {} is not known as a single operator; {}", type, types_like(type));
  if (is_pointwise(*rows.front())) return all_together;
  fail(Code::kFeatureUnsupported,
       "the sizes that {} gives are not worked out ahead; describe its outputs, or call aclopCompileAndExecuteV2 with "
       "the largest sizes there can be, which writes the true ones",
       type);
}

}  // namespace
}  // namespace npu::acl

using namespace npu;       // NOLINT: the C functions below are the door itself
using namespace npu::acl;  // NOLINT

aclError aclopInferShape(const char* opType, int numInputs, aclTensorDesc* inputDesc[], aclDataBuffer* inputs[],
                         int numOutputs, aclTensorDesc* outputDesc[], aclopAttr* attr) {
  return call("aclopInferShape", [&] {
    const Rule rule = rule_of(given(opType, "opType"));
    Asked asked{opType,
                {},
                span_of<const aclTensorDesc*>(numInputs, inputDesc, "inputDesc"),
                span_of<const aclDataBuffer*>(numInputs, inputs, "inputs"),
                attr == nullptr ? nullptr : &described(attr, "attr")};
    for (const aclTensorDesc* desc : asked.descs)
      if (described(desc, "inputDesc").dtype != DType::kUndefined) asked.inputs.push_back(desc->dims);
    const auto outputs = span_of(numOutputs, outputDesc, "outputDesc");
    if (outputs.size() != 1) fail(Code::kInvalidParam, "{} has 1 output, {} are described", opType, outputs.size());
    const bool nobody_knows = std::ranges::any_of(asked.descs, [](const auto* desc) { return desc->unknown_rank(); });
    described(outputs[0], "outputDesc").dims = nobody_knows ? Sizes{kUnknownRank} : rule(asked);
  });
}
