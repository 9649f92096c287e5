// SPDX-License-Identifier: Apache-2.0
// Layers of ONNX in forms that its node tests do not reach, against formulas in float64; and what they refuse.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "graph/import/onnx/onnx_fixture.h"

namespace npu::graph::onnx {
namespace {

std::vector<float> drawn(const Dims& shape, uint32_t seed, double low = -1, double high = 1) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<double> in(low, high);
  std::vector<float> out(static_cast<size_t>(count_of(shape)));
  for (float& x : out) x = static_cast<float>(in(engine));
  return out;
}

/// Agreement within `share` of the largest number.
void expect_close(const std::vector<double>& got, const std::vector<double>& wanted, double share = 2e-6) {
  ASSERT_EQ(got.size(), wanted.size());
  double largest = 0;
  for (const double w : wanted) largest = std::max(largest, std::abs(w));
  for (size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], wanted[i], share * largest) << "element " << i;
}

/// Images with one spatial axis of `length`.
struct Line {
  int64_t batch, channels, length;
  Dims shape() const { return {batch, channels, length}; }
};

/// The formula of a convolution over one axis.
std::vector<double> convolved(const Line& in, const std::vector<float>& x, const Dims& weight,
                              const std::vector<float>& w, const std::vector<float>& bias, int64_t stride,
                              int64_t dilation, int64_t before, int64_t out) {
  const int64_t groups = in.channels / weight[1], outs = weight[0] / groups;
  std::vector<double> y;
  for (int64_t n = 0; n < in.batch; ++n)
    for (int64_t o = 0; o < weight[0]; ++o)
      for (int64_t p = 0; p < out; ++p) {
        double sum = bias.empty() ? 0 : static_cast<double>(bias[static_cast<size_t>(o)]);
        for (int64_t c = 0; c < weight[1]; ++c)
          for (int64_t k = 0; k < weight[2]; ++k) {
            const int64_t at = p * stride - before + k * dilation;
            if (at < 0 || at >= in.length) continue;
            const int64_t channel = o / outs * weight[1] + c;
            sum += static_cast<double>(x[static_cast<size_t>((n * in.channels + channel) * in.length + at)]) *
                   static_cast<double>(w[static_cast<size_t>((o * weight[1] + c) * weight[2] + k)]);
          }
        y.push_back(sum);
      }
  return y;
}

/// The same numbers over lines, images of height 1 and volumes: a meaning of its own and the engine's kind.
TEST(OnnxConv, IsTheFormulaOverOneTwoAndThreeAxes) {
  const Line in{2, 4, 11};
  const Dims weight{6, 2, 3};
  const auto x = drawn(in.shape(), 1), w = drawn(weight, 2), b = drawn({6}, 3);
  const auto wanted = convolved(in, x, weight, w, b, 2, 2, 1, 5);
  for (size_t axes = 1; axes <= 3; ++axes) {
    for (const bool ranked : {true, false}) {
      Dims image{in.batch, in.channels}, filter{6, 2};
      std::vector<int64_t> stride(axes, 1), dilation(axes, 1), pads(2 * axes, 0);
      for (size_t i = 1; i < axes; ++i) image.push_back(1), filter.push_back(1);
      image.push_back(in.length), filter.push_back(3);
      stride.back() = 2, dilation.back() = 2, pads[axes - 1] = 1, pads.back() = 2;
      OnnxNode node("Conv", 11);
      node.input<float>(image, x).input<float>(filter, w, ranked).constant<float>({6}, b);
      node.set("group", 2).set("strides", stride).set("dilations", dilation).set("pads", pads);
      const auto y = node.run();
      EXPECT_EQ(y[0].shape.back(), 5);
      expect_close(y[0].numbers, wanted);
    }
  }
}

TEST(OnnxConv, PutsTheOddPadWhereItsNameSays) {
  const Line in{1, 1, 6};
  const auto x = drawn(in.shape(), 4), w = drawn({1, 1, 2}, 5);
  for (const bool lower : {true, false}) {
    for (const bool ranked : {true, false}) {
      OnnxNode node("Conv", 11);
      node.input<float>({1, 1, 1, 6}, x).input<float>({1, 1, 1, 2}, w, ranked);
      node.set("auto_pad", lower ? "SAME_LOWER" : "SAME_UPPER");
      expect_close(node.run()[0].numbers, convolved(in, x, {1, 1, 2}, w, {}, 1, 1, lower ? 1 : 0, 6));
    }
  }
}

/// The turned convolution is the transposed matrix of the plain one: <conv(x), y> = <x, turned(y)>.
TEST(OnnxConvTranspose, IsTheTransposedConvolution) {
  const auto x = drawn({1, 4, 9, 8}, 6), w = drawn({6, 2, 3, 2}, 7), y = drawn({1, 6, 4, 8}, 8);
  const std::vector<int64_t> stride{2, 1}, pads{1, 0, 0, 1};
  OnnxNode plain("Conv", 11);
  plain.input<float>({1, 4, 9, 8}, x).constant<float>({6, 2, 3, 2}, w);
  plain.set("group", 2).set("strides", stride).set("pads", pads);
  const auto forward = plain.run()[0];
  ASSERT_EQ(forward.shape, (Dims{1, 6, 4, 8}));
  OnnxNode turned("ConvTranspose", 11);
  turned.input<float>({1, 6, 4, 8}, y).constant<float>({6, 2, 3, 2}, w);
  turned.set("group", 2).set("strides", stride).set("pads", pads).set("output_padding", std::vector<int64_t>{1, 0});
  const auto back = turned.run()[0];
  ASSERT_EQ(back.shape, (Dims{1, 4, 9, 8}));
  double left = 0, right = 0, size = 0;
  for (size_t i = 0; i < y.size(); ++i) left += forward.numbers[i] * static_cast<double>(y[i]);
  for (size_t i = 0; i < x.size(); ++i) right += back.numbers[i] * static_cast<double>(x[i]);
  for (size_t i = 0; i < y.size(); ++i) size += std::abs(forward.numbers[i] * static_cast<double>(y[i]));
  EXPECT_NEAR(left, right, 1e-6 * size);
}

TEST(OnnxMatMul, TakesVectorsAndIntegers) {
  OnnxNode rows("MatMul", 13);
  rows.input<float>({3}, {1, 2, 3}).input<float>({2, 3, 2}, {1, 2, 3, 4, 5, 6, 1, 0, 0, 1, 1, 1});
  EXPECT_EQ(rows.run()[0].numbers, (std::vector<double>{22, 28, 4, 5}));
  OnnxNode dot("MatMul", 13);
  dot.input<int32_t>({3}, {1, 2, 3}).input<int32_t>({3}, {4, 5, 6});
  const auto y = dot.run()[0];
  EXPECT_EQ(y.dtype, DType::kInt32);
  EXPECT_EQ(y.shape, Dims{});
  EXPECT_EQ(y.numbers, std::vector<double>{32});
}

TEST(OnnxPool, NormsAndWidePads) {
  OnnxNode norm("LpPool", 11);
  norm.input<float>({1, 1, 4}, {3, -4, 1, 2}).set("kernel_shape", std::vector<int64_t>{2}).set("p", 2);
  expect_close(norm.run()[0].numbers, {5, std::sqrt(17), std::sqrt(5)});
  // Pads of more than half the window, which the operator does not take.
  OnnxNode wide("MaxPool", 12);
  wide.input<float>({1, 1, 3}, {3, 1, 2});
  wide.set("kernel_shape", std::vector<int64_t>{3}).set("pads", std::vector<int64_t>{2, 2});
  EXPECT_EQ(wide.run()[0].numbers, (std::vector<double>{3, 3, 3, 2, 2}));
  OnnxNode lines("AveragePool", 11);
  lines.input<float>({1, 1, 3}, {3, 1, 2});
  lines.set("kernel_shape", std::vector<int64_t>{3})
      .set("pads", std::vector<int64_t>{2, 2})
      .set("count_include_pad", 1);
  expect_close(lines.run()[0].numbers, {1, 4.0 / 3, 2, 1, 2.0 / 3});
}

// As in ONNX's own data of opset 22: what is beyond the pads is not counted. The second window has one element
// inside.
TEST(OnnxPool, AWindowThatIsRoundedUpCountsNoMoreThanThePads) {
  OnnxNode node("AveragePool", 22);
  node.input<float>({1, 1, 4}, {1, 2, 3, 4});
  node.set("kernel_shape", std::vector<int64_t>{2})
      .set("dilations", std::vector<int64_t>{2})
      .set("strides", std::vector<int64_t>{3})
      .set("ceil_mode", 1)
      .set("count_include_pad", 1);
  expect_close(node.run()[0].numbers, {2, 4});
}

TEST(OnnxRnn, OfALongerListOfActivationsTheFirstCount) {
  const auto hidden = [](std::vector<std::string> names) {
    OnnxNode node("RNN", 14);
    node.input<float>({1, 1, 2}, {0.5, -1}).input<float>({1, 2, 2}, {1, 0, 0, 1}).input<float>({1, 2, 2}, {0, 0, 0, 0});
    node.set("hidden_size", 2).set("activations", std::move(names));
    return node.run()[0].numbers;
  };
  expect_close(hidden({"Tanh", "Relu"}), {std::tanh(0.5), std::tanh(-1)});
}

/// x normalised over groups of `length` elements, times scale, plus bias.
std::vector<double> normalised(const std::vector<float>& x, size_t length, double epsilon) {
  std::vector<double> out;
  for (size_t at = 0; at < x.size(); at += length) {
    double mean = 0, square = 0;
    for (size_t i = 0; i < length; ++i) mean += static_cast<double>(x[at + i]) / static_cast<double>(length);
    for (size_t i = 0; i < length; ++i)
      square += std::pow(static_cast<double>(x[at + i]) - mean, 2) / static_cast<double>(length);
    for (size_t i = 0; i < length; ++i)
      out.push_back((static_cast<double>(x[at + i]) - mean) / std::sqrt(square + epsilon));
  }
  return out;
}

TEST(OnnxNorm, GroupsHaveTheirOwnScaleBeforeOpset21) {
  const auto x = drawn({2, 4, 5}, 9);
  OnnxNode node("GroupNormalization", 18);
  node.input<float>({2, 4, 5}, x).constant<float>({2}, {2, 3}).constant<float>({2}, {0.5, -1});
  node.set("num_groups", 2).set("epsilon", 1e-3F);
  auto wanted = normalised(x, 10, 1e-3F);
  for (size_t i = 0; i < wanted.size(); ++i) wanted[i] = i / 10 % 2 == 0 ? wanted[i] * 2 + 0.5 : wanted[i] * 3 - 1;
  expect_close(node.run()[0].numbers, wanted);
}

TEST(OnnxNorm, TrainingGivesRunningStatistics) {
  const auto x = drawn({3, 1, 4}, 10);
  OnnxNode node("BatchNormalization", 15);
  node.input<float>({3, 1, 4}, x).constant<float>({1}, {1}).constant<float>({1}, {0});
  node.constant<float>({1}, {2}).constant<float>({1}, {4}).set("training_mode", 1).set("momentum", 0.75F);
  const auto y = node.run(3);
  expect_close(y[0].numbers, normalised(x, 12, 1e-5F), 4e-6);
  double mean = 0, square = 0;
  for (const float v : x) mean += static_cast<double>(v) / 12;
  for (const float v : x) square += std::pow(static_cast<double>(v) - mean, 2) / 12;
  EXPECT_NEAR(y[1].numbers[0], 1.5 + mean / 4, 1e-6);
  EXPECT_NEAR(y[2].numbers[0], 3 + square / 4, 1e-6);
}

TEST(OnnxNorm, RowsOfZerosStay) {
  OnnxNode node("LpNormalization", 1 + 6);
  node.input<float>({2, 2}, {3, 4, 0, 0});
  expect_close(node.run()[0].numbers, {0.6, 0.8, 0, 0});
}

TEST(OnnxSoftmax, OldOpsetsTakeAllAxesBehind) {
  const auto x = drawn({2, 2, 3}, 11);
  OnnxNode node("Softmax", 11);
  node.input<float>({2, 2, 3}, x);
  std::vector<double> wanted;
  for (size_t row = 0; row < 2; ++row) {
    double sum = 0;
    for (size_t i = 0; i < 6; ++i) sum += std::exp(static_cast<double>(x[row * 6 + i]));
    for (size_t i = 0; i < 6; ++i) wanted.push_back(std::exp(static_cast<double>(x[row * 6 + i])) / sum);
  }
  expect_close(node.run()[0].numbers, wanted);
}

TEST(OnnxResize, KeepsTheRatioOfAnImage) {
  OnnxNode node("Resize", 18);
  node.input<float>({1, 1, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}).left_out().left_out().constant<int64_t>({2}, {8, 8});
  node.set("axes", std::vector<int64_t>{2, 3}).set("keep_aspect_ratio_policy", "not_larger");
  EXPECT_EQ(node.run()[0].shape, (Dims{1, 1, 4, 8}));
  node.set("mode", "cube");
  EXPECT_NE(node.refusal().find("nearest, linear and cubic"), std::string::npos);
}

/// Numbers of one QLinearConv with a scale for each channel.
TEST(OnnxQuantised, ConvolutionHasScalesOfChannels) {
  const std::vector<uint8_t> x{0, 10, 200, 255, 30, 128};
  const std::vector<int8_t> w{1, -2, 127, -128};
  OnnxNode node("QLinearConv", 10);
  node.input<uint8_t>({1, 1, 1, 6}, x).constant<float>({}, {0.5}).constant<uint8_t>({}, {100});
  node.constant<int8_t>({2, 1, 1, 2}, w).constant<float>({2}, {0.25, 0.002}).constant<int8_t>({2}, {0, 0});
  node.constant<float>({}, {2}).constant<uint8_t>({}, {7}).constant<int32_t>({2}, {40, -1000});
  std::vector<double> wanted;
  for (size_t o = 0; o < 2; ++o)
    for (size_t p = 0; p < 5; ++p) {
      const double sum = (x[p] - 100) * w[2 * o] + (x[p + 1] - 100) * w[2 * o + 1] + (o == 0 ? 40 : -1000);
      const double real = sum * 0.5 * (o == 0 ? 0.25 : 0.002F) / 2;
      wanted.push_back(std::clamp(std::nearbyint(real) + 7, 0.0, 255.0));
    }
  const auto y = node.run()[0];
  EXPECT_EQ(y.dtype, DType::kUInt8);
  EXPECT_EQ(y.numbers, wanted);
}

TEST(OnnxQuantised, BlocksHaveTheirOwnScale) {
  OnnxNode node("DequantizeLinear", 21);
  node.input<int8_t>({2, 4}, {1, 2, 3, 4, -1, -2, -3, -4}).constant<float>({2, 2}, {1, 10, 100, 1000});
  node.constant<int8_t>({2, 2}, {0, 1, 0, -1}).set("axis", 1).set("block_size", 2);
  EXPECT_EQ(node.run()[0].numbers, (std::vector<double>{1, 2, 20, 30, -100, -200, -2000, -3000}));
}

/// What is refused, and with what words.
TEST(OnnxNetwork, RefusesWhatDoesNotFit) {
  const auto refused = [](const OnnxNode& node, const std::string& words, size_t outputs = 1) {
    const std::string text = node.refusal(outputs);
    EXPECT_NE(text.find(words), std::string::npos) << text;
    EXPECT_NE(text.find("the node"), std::string::npos) << text;
  };
  const auto image = drawn({1, 3, 4, 4}, 12);
  const auto conv = [&](const Dims& weight, bool ranked = true) {
    OnnxNode node("Conv", 11);
    node.input<float>({1, 3, 4, 4}, image).input<float>(weight, drawn(weight, 13), ranked);
    return node;
  };
  refused(conv({2, 2, 3, 3}), "evenly divisible");
  refused(conv({2, 2, 3, 3}, false), "channels do not fit");
  refused(conv({2, 3, 5, 5}, false), "does not fit axis 0");
  refused(conv({2, 3, 3, 3}).set("group", 3), "group is 3");
  refused(conv({2, 3, 3, 3}).set("pads", std::vector<int64_t>{1, 1}), "pads has 2 numbers");
  refused(conv({2, 3, 3, 3}, false).set("auto_pad", "EVEN"), "auto_pad is 'EVEN'");
  refused(conv({2, 3, 3, 3}, false).set("strides", std::vector<int64_t>{0, 1}), "stride 0");
  OnnxNode product("MatMul", 13);
  refused(product.input<float>({2, 3}, drawn({6}, 1)).input<float>({2, 3}, drawn({6}, 2)), "inner sizes differ");
  OnnxNode pool("MaxPool", 12);
  refused(pool.input<float>({1, 3, 4, 4}, image), "no kernel_shape");
  OnnxNode loss("NegativeLogLikelihoodLoss", 13);
  loss.input<float>({2, 3}, drawn({6}, 3)).input<int64_t>({3}, {0, 1, 2});
  refused(loss, "the labels are 3");
  OnnxNode lstm("LSTM", 14);
  lstm.input<float>({2, 1, 3}, drawn({6}, 4)).constant<float>({1, 8, 3}, drawn({24}, 5));
  lstm.constant<float>({1, 8, 2}, drawn({16}, 6));
  refused(OnnxNode(lstm).set("activations", std::vector<std::string>{"Sigmoid", "Tanh", "Cosine"}),
          "'Cosine' is not known");
  refused(OnnxNode(lstm).set("activations", std::vector<std::string>{"Tanh"}), "names 1 functions");
  refused(OnnxNode(lstm).set("direction", "both"), "direction is 'both'");
  refused(OnnxNode(lstm).constant<float>({1, 8}, drawn({8}, 7)), "B is 1x8");
  OnnxNode equation("Einsum", 12);
  refused(equation.input<float>({2, 2}, drawn({4}, 8)).set("equation", "ijk->ij"), "");
}

}  // namespace
}  // namespace npu::graph::onnx
