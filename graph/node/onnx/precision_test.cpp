// SPDX-License-Identifier: Apache-2.0
// What modes of precision make of the nodes of ONNX models is in graph/precision/precision.tsv.
#include <gtest/gtest.h>

#include <set>

#include "graph/import/tensorflow/dialect.h"
#include "graph/plan/lowering.h"
#include "graph/precision/list.h"

namespace npu::graph {
namespace {

constexpr std::string_view kDomain = "ai.onnx::";

/// Nodes that have no choice: numbers of fixed types, drawn or counted ones, sequences, grids of coordinates.
const std::set<std::string_view> kKeepTheirTypes = {
    "AffineGrid",
    "Bernoulli",
    "BlackmanWindow",
    "ConcatFromSequence",
    "ConvInteger",
    "DFT",
    "DequantizeLinear",
    "Dropout",
    "DynamicQuantizeLSTM",
    "DynamicQuantizeLinear",
    "EyeLike",
    "HammingWindow",
    "HannWindow",
    "IsInf",
    "MatMulInteger",
    "MelWeightMatrix",
    "Multinomial",
    "NonMaxSuppression",
    "NonZero",
    "QLinearConv",
    "QLinearMatMul",
    "QuantizeLinear",
    "RandomNormal",
    "RandomNormalLike",
    "RandomUniform",
    "RandomUniformLike",
    "STFT",
    "SequenceAt",
    "SequenceConstruct",
    "SequenceEmpty",
    "SequenceErase",
    "SequenceInsert",
    "SequenceLength",
    "SplitToSequence",
    "TfIdfVectorizer",
    "UnsignedDiv",
    "UnsignedLeftShift",
    "UnsignedLess",
    "UnsignedLessEqual",
    "UnsignedMax",
    "UnsignedMin",
    "UnsignedMod",
    "UnsignedRightShift",
};

TEST(OnnxPrecision, EachNodeHasALineOrKeepsItsTypes) {
  std::set<std::string_view> nodes;
  for (const std::string_view op : lowered_operators(tensorflow::dialect())) {
    if (!op.starts_with(kDomain)) continue;
    nodes.insert(op);
    EXPECT_NE(find_precision(op) != nullptr, kKeepTheirTypes.contains(op.substr(kDomain.size()))) << op;
  }
  EXPECT_GT(nodes.size(), 100u);
  for (const OperatorPrecision& line : all_precision())
    EXPECT_TRUE(!line.op.starts_with(kDomain) || nodes.contains(line.op)) << line.op << " is no node";
}

}  // namespace
}  // namespace npu::graph
