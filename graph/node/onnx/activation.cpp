// SPDX-License-Identifier: Apache-2.0
#include "graph/node/onnx/activation.h"

#include <optional>
#include <string>

#include "base/text.h"

namespace npu::graph::onnx {
namespace {

/// A function by name; its numbers, where it has them, and what they are when nothing is said.
struct Row {
  const char* name;
  Curve curve;
  std::optional<double> alpha, beta;
};

const Row kRows[] = {
    {"relu", Curve::kRelu, {}, {}},
    {"tanh", Curve::kTanh, {}, {}},
    {"sigmoid", Curve::kSigmoid, {}, {}},
    {"affine", Curve::kAffine, 1, 0},
    {"leakyrelu", Curve::kLeakyRelu, 0.01, {}},
    {"thresholdedrelu", Curve::kThresholdedRelu, 1, {}},
    {"scaledtanh", Curve::kScaledTanh, 1, 1},
    {"hardsigmoid", Curve::kHardSigmoid, 0.2, 0.5},
    {"elu", Curve::kElu, 1, {}},
    {"softsign", Curve::kSoftsign, {}, {}},
    {"softplus", Curve::kSoftplus, {}, {}},
};

const Row& row_of(const std::string& given) {
  const std::string name = lowered(given);
  for (const Row& row : kRows)
    if (name == row.name) return row;
  fail(
      Code::kNnInvalidParam,
      "activation '{}' is not known; Relu, Tanh, Sigmoid, Affine, LeakyRelu, ThresholdedRelu, ScaledTanh, HardSigmoid, "
      "Elu, Softsign and Softplus are",
      given);
}

/// The next number of a list that goes to those functions that have one.
double next(const std::vector<double>& list, size_t& at, const std::optional<double>& otherwise) {
  if (!otherwise) return 0;
  return at < list.size() ? list[at++] : *otherwise;
}

}  // namespace

std::vector<Activation> activations_of(const Lowering& l, std::vector<std::string> otherwise, size_t count) {
  auto names = l.attributes().get_or<std::vector<std::string>>("activations", {});
  if (names.empty()) names = std::move(otherwise);
  require(names.size() >= count, "activations names {} functions; the node needs {}", names.size(), count);
  names.resize(count);  // exporters write the operator's whole list of defaults, for two directions
  const auto alphas = l.attributes().get_or<std::vector<double>>("activation_alpha", {});
  const auto betas = l.attributes().get_or<std::vector<double>>("activation_beta", {});
  size_t alpha = 0, beta = 0;
  std::vector<Activation> out;
  for (const std::string& name : names) {
    const Row& row = row_of(name);
    const double first = next(alphas, alpha, row.alpha);
    out.push_back({row.curve, first, next(betas, beta, row.beta)});
  }
  return out;
}

}  // namespace npu::graph::onnx
