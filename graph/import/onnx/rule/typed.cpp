// SPDX-License-Identifier: Apache-2.0
// Operators whose result is of a type that an attribute names, and Dropout, whose mask changed its type.
#include "graph/import/onnx/tensor.h"
#include "graph/import/onnx/translation.h"

namespace npu::graph::onnx {
namespace {

/// ONNX's numbers of types.
constexpr int64_t kFloatNumber = 1, kInt32Number = 6;

void give_typed(Translation& t, const char* attribute, DType otherwise) {
  DType type = otherwise;
  if (t.has_attribute(attribute)) {
    const auto number = t.required<int64_t>(attribute);
    type = element_type(number);
    if (type == DType::kUndefined)
      t.refuse(fmt::format("{} is a type that the NPU does not compute", element_name(number)));
  }
  t.give(0, t.itself({ValueType::tensor(type)}));
}

void random(Translation& t) { give_typed(t, "dtype", element_type(kFloatNumber)); }
void like(Translation& t) { give_typed(t, "dtype", t.dtype(t.in(0))); }
void choice(Translation& t) { give_typed(t, "dtype", element_type(kInt32Number)); }
void window(Translation& t) { give_typed(t, "output_datatype", element_type(kFloatNumber)); }
void mel(Translation& t) { give_typed(t, "output_datatype", element_type(kFloatNumber)); }

/// Without training and mask it is its input; whether it trains is an input since opset 12.
void dropout(Translation& t) {
  const Edge x = t.in(0);
  const Literal* trains = t.has(2) ? t.literal(t.in(2)) : nullptr;
  const bool quiet = !t.has(2) || (trains != nullptr && trains->bytes && !*trains->as<bool>());
  if (quiet && !t.wants(1)) return t.give(0, t.point("Identity", {x}));
  std::vector<ValueType> types{ValueType::tensor(t.dtype(x))};
  if (t.node().outputs.size() > 1) types.push_back(ValueType::tensor(t.opset() < 10 ? t.dtype(x) : DType::kBool));
  Made made = t.itself(types);
  made.shaped(t.value(x).shape);
  for (size_t i = 0; i < types.size(); ++i) t.give(i, made.output(static_cast<int32_t>(i)));
}

NPU_ONNX("RandomNormal", random);
NPU_ONNX("RandomUniform", random);
NPU_ONNX("RandomNormalLike", like);
NPU_ONNX("RandomUniformLike", like);
NPU_ONNX("Bernoulli", like);
NPU_ONNX("Multinomial", choice);
NPU_ONNX("HannWindow", window);
NPU_ONNX("HammingWindow", window);
NPU_ONNX("BlackmanWindow", window);
NPU_ONNX("MelWeightMatrix", mel);
NPU_ONNX("Dropout", dropout);

}  // namespace
}  // namespace npu::graph::onnx
