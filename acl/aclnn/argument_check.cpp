// SPDX-License-Identifier: Apache-2.0
// Refusals are worded here, out of line: a call whose arguments are in order pays for the two comparisons of check_kind
// and nothing else.
#include "acl/aclnn/argument_check.h"

#include <string>

#include "ops/matmul/blocked.h"

namespace npu::acl {
namespace {

/// "float32, float16 or bfloat16".
std::string names_of(uint64_t types) {
  std::string text;
  for (int32_t number = 0; types != 0; ++number, types >>= 1) {
    if ((types & 1) == 0) continue;
    if (!text.empty()) text += types == 1 ? " or " : ", ";
    text += name_of(static_cast<DType>(number));
  }
  return text;
}

/// The name of a format whose elements lie in blocks; empty for formats that only name the axes.
std::string_view blocked_name(int32_t format) {
  if (ops::is_blocked(format)) return "FRACTAL_NZ";
  switch (format) {
    case ACL_FORMAT_UNDEFINED:
    case ACL_FORMAT_NCHW:
    case ACL_FORMAT_NHWC:
    case ACL_FORMAT_ND:
    case ACL_FORMAT_HWCN:
    case ACL_FORMAT_NDHWC:
    case ACL_FORMAT_NCDHW:
    case ACL_FORMAT_NC:
    case ACL_FORMAT_NCL: return {};
    case ACL_FORMAT_NC1HWC0: return "NC1HWC0";
    case ACL_FORMAT_FRACTAL_Z: return "FRACTAL_Z";
    case ACL_FORMAT_NC1HWC0_C04: return "NC1HWC0_C04";
    case ACL_FORMAT_NDC1HWC0: return "NDC1HWC0";
    case ACL_FRACTAL_Z_3D: return "FRACTAL_Z_3D";
    default: return "unknown";
  }
}

// Tensors alone have an element type that a dtype argument could contradict; an absent one contradicts nothing.
const Tensor* tensor_of(const Parameter& parameter, const Argument& argument) {
  if (parameter.kind != Word::kTensor || argument.pointer == nullptr) return nullptr;
  return &live(static_cast<const aclTensor*>(argument.pointer), "aclTensor").tensor;
}

void check_range(const Parameter& p, int64_t value) {
  require(value >= p.rule.low && value <= p.rule.high, "{} is {}; it may be {} to {}", p.name, value, p.rule.low,
          p.rule.high);
}

void check_same(const Parameter& p, const Argument& argument, const Parameter& other, const Tensor* tensor) {
  const auto dtype = static_cast<DType>(argument.integer);
  if (tensor == nullptr || tensor->dtype == dtype) return;
  fail(Code::kNnInvalidParam, "{} is {}, {} is {}: pass the element type of {}", p.name, dtype, other.name, *tensor,
       other.name);
}

}  // namespace

bool detail::is_plain(int32_t format, const Parameter& p) {
  // `blocked` is the tables' word for the few weights that operators read in that format.
  if (ops::is_blocked(format) && std::string_view(p.word).starts_with("blocked")) return true;
  return blocked_name(format).empty();
}

void detail::refuse_kind(const Tensor& tensor, const Parameter& p) {
  if (!p.rule.takes(tensor.dtype))
    fail(Code::kNnInvalidParam, "{} is {}; it may be {}: cast it first", p.name, tensor, names_of(p.rule.types));
  fail(Code::kNnInvalidParam, "{} has format {} ({}), whose elements lie in blocks; pass a plain one, as ACL_FORMAT_ND",
       p.name, tensor.format & 0xFFFF, blocked_name(tensor.format));
}

void check_values(const Row& row, std::span<const Argument> arguments) {
  for (size_t i = 0; i < row.parameters.size(); ++i) {
    const Parameter& p = row.parameters[i];
    if (p.rule.low < p.rule.high) check_range(p, arguments[i].integer);
    if (p.rule.same < 0) continue;
    const auto at = static_cast<size_t>(p.rule.same);
    check_same(p, arguments[i], row.parameters[at], tensor_of(row.parameters[at], arguments[at]));
  }
}

}  // namespace npu::acl
