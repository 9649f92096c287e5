// SPDX-License-Identifier: Apache-2.0
// The functions that recurrent nodes name: "Tanh", "HardSigmoid" …, some with numbers of their own.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "graph/plan/lowering.h"

namespace npu::graph::onnx {

enum class Curve : uint8_t {
  kRelu,
  kTanh,
  kSigmoid,
  kAffine,
  kLeakyRelu,
  kThresholdedRelu,
  kScaledTanh,
  kHardSigmoid,
  kElu,
  kSoftsign,
  kSoftplus
};

struct Activation {
  Curve curve = Curve::kTanh;
  double alpha = 0, beta = 0;

  template <class T>
  T operator()(T x) const {
    const T a = static_cast<T>(alpha), b = static_cast<T>(beta);
    switch (curve) {
      case Curve::kRelu: return std::max(x, T{0});
      case Curve::kTanh: return std::tanh(x);
      case Curve::kSigmoid: return T{1} / (T{1} + std::exp(-x));
      case Curve::kAffine: return a * x + b;
      case Curve::kLeakyRelu: return x < 0 ? a * x : x;
      case Curve::kThresholdedRelu: return x > a ? x : T{0};
      case Curve::kScaledTanh: return a * std::tanh(b * x);
      case Curve::kHardSigmoid: return std::clamp(a * x + b, T{0}, T{1});
      case Curve::kElu: return x < 0 ? a * std::expm1(x) : x;
      case Curve::kSoftsign: return x / (T{1} + std::abs(x));
      case Curve::kSoftplus: return std::max(x, T{0}) + std::log1p(std::exp(-std::abs(x)));
    }
    return x;
  }
};

/// Those of the node's attributes activations, activation_alpha and activation_beta, `otherwise` where it names none;
/// as many as `count`. Raises 161002 for unknown names.
std::vector<Activation> activations_of(const Lowering& l, std::vector<std::string> otherwise, size_t count);

}  // namespace npu::graph::onnx
