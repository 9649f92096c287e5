// SPDX-License-Identifier: Apache-2.0
#include "acl/singleop/operator_type.h"

namespace npu::acl {
namespace {

// Few attributes are listed: what most of these types say in them (Cast's dst_type, Eye's sizes) the output already
// says.
const std::vector<OperatorType>& table() {
  static const auto& types = *new std::vector<OperatorType>{
      {"Abs", "abs", {"self"}, {"out"}},
      {"Add", "add", {"self", "other"}, {"out"}},
      {"Cdist", "pair_distance", {"x1", "x2"}, {"out"}, {"p"}},
      {"CdistGrad", "pair_distance_grad", {"grad", "x1", "x2", ""}, {"out"}, {"p"}},
      {"Cast", "copy", {"self"}, {"out"}},
      {"Div", "div", {"self", "other"}, {"out"}},
      {"DynamicRNN",
       "dynamic_rnn",
       {"x", "w", "bias", "seq_length", "init_h", "init_c"},
       {"y", "output_h", "output_c", "i", "j", "f", "o", "tanhc"}},
      {"DynamicRNNGrad",
       "dynamic_rnn_grad",
       {"x", "w", "",  "",  "init_h", "init_c",     "h", "c", "dy", "dh", "dc",
        "i", "j", "f", "o", "tanhc",  "seq_length", "",  "",  "",   ""},
       {"dw", "db", "dx", "dh_prev", "dc_prev"}},
      {"DynamicRNNV2",
       "dynamic_rnn",
       {"x", "w_ih", "w_hh", "bias", "", "init_h", "init_c"},
       {"y", "output_h", "output_c", "i", "j", "f", "o", "tanhc"}},
      {"DynamicRNNV2Grad",
       "dynamic_rnn_grad",
       {"x", "w_ih", "w_hh", "",  "init_h", "init_c", "h", "c", "dy", "dh", "dc",
        "i", "j",    "f",    "o", "tanhc",  "",       "",  "",  "",   ""},
       {"dw_ih", "dw_hh", "db", "dx", "dh_prev", "dc_prev"}},
      {"Exp", "exp", {"self"}, {"out"}},
      {"Eye", "eye", {}, {"out"}},
      {"Identity", "copy", {"self"}, {"out"}},
      {"Maximum", "maximum", {"self", "other"}, {"out"}},
      {"Minimum", "minimum", {"self", "other"}, {"out"}},
      {"Mul", "mul", {"self", "other"}, {"out"}},
      {"NPUAllocFloatStatus", "alloc_float_status", {}, {"out"}},
      {"NPUClearFloatStatus", "clear_float_status", {"self"}, {"out"}},
      {"NPUClearFloatStatusV2", "clear_float_status", {}, {}},
      {"NPUGetFloatStatus", "get_float_status", {"self"}, {"out"}},
      {"NPUGetFloatStatusV2", "get_float_status", {}, {"out"}},
      {"Neg", "neg", {"self"}, {"out"}},
      {"Relu", "relu", {"self"}, {"out"}},
      {"Sqrt", "sqrt", {"self"}, {"out"}},
      {"Sub", "sub", {"self", "other"}, {"out"}},
      {"TensorMove", "copy", {"self"}, {"out"}},
  };
  return types;
}

bool built(const OperatorType& type) { return ops::find_operator(type.name) != nullptr; }

}  // namespace

const OperatorType* find_operator_type(std::string_view type) {
  for (const OperatorType& entry : table())
    if (entry.type == type && built(entry)) return &entry;
  return nullptr;
}

std::string known_operator_types() {
  std::string text;
  for (const OperatorType& entry : table()) {
    if (!built(entry)) continue;
    text += text.empty() ? "" : ", ";
    text += entry.type;
  }
  return text;
}

}  // namespace npu::acl
