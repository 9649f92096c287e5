// SPDX-License-Identifier: Apache-2.0
// Recurrent nodes in forms that ONNX's node tests do not reach, and random ones against the numbers of NumPy.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "graph/import/onnx/onnx_fixture.h"

namespace npu::graph::onnx {
namespace {

std::vector<float> drawn(int64_t count, uint32_t seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<double> in(-1, 1);
  std::vector<float> out(static_cast<size_t>(count));
  for (float& x : out) x = static_cast<float>(in(engine));
  return out;
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

constexpr int64_t kSteps = 4, kBatch = 2, kInput = 3, kHidden = 5;

/// The steps of each row of the batch turned round.
std::vector<float> turned(const std::vector<float>& x) {
  std::vector<float> out;
  const size_t row = static_cast<size_t>(kBatch * kInput);
  for (size_t t = static_cast<size_t>(kSteps); t-- > 0;)
    out.insert(out.end(), x.begin() + static_cast<int64_t>(t * row), x.begin() + static_cast<int64_t>((t + 1) * row));
  return out;
}

struct Weights {
  std::vector<float> w, r, b;
};
Weights weights(int64_t gates, uint32_t seed) {
  return {drawn(gates * kHidden * kInput, seed), drawn(gates * kHidden * kHidden, seed + 1),
          drawn(2 * gates * kHidden, seed + 2)};
}
std::vector<float> both(std::vector<float> a, const std::vector<float>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

OnnxNode cell(const std::string& op, int64_t gates, int64_t directions, const std::vector<float>& x,
              const Weights& all) {
  OnnxNode node(op, 14);
  node.input<float>({kSteps, kBatch, kInput}, x).constant<float>({directions, gates * kHidden, kInput}, all.w);
  node.constant<float>({directions, gates * kHidden, kHidden}, all.r)
      .constant<float>({directions, 2 * gates * kHidden}, all.b);
  node.set("hidden_size", kHidden);
  return node;
}

/// Both directions are what each gives alone, and the second one what the first is over the turned sequence. The turned
/// rows lie elsewhere in the product with the weights, where oneDNN adds in another order on CPUs with AVX2 alone: a
/// rounding or two of numbers below 1, which the steps carry on.
TEST(OnnxRecurrent, DirectionsAreSequencesOfTheirOwn) {
  for (const auto& [op, gates] : {std::pair<std::string, int64_t>{"RNN", 1}, {"GRU", 3}, {"LSTM", 4}}) {
    const auto x = drawn(kSteps * kBatch * kInput, 1);
    const Weights first = weights(gates, 10), second = weights(gates, 20);
    const auto together =
        cell(op, gates, 2, x, {both(first.w, second.w), both(first.r, second.r), both(first.b, second.b)})
            .set("direction", "bidirectional")
            .run(2);
    const auto forward = cell(op, gates, 1, x, first).run(2), backward = cell(op, gates, 1, turned(x), second).run(2);
    const auto reverse = cell(op, gates, 1, x, second).set("direction", "reverse").run(2);
    const size_t part = static_cast<size_t>(kBatch * kHidden);
    for (size_t i = 0; i < part; ++i) {
      EXPECT_EQ(together[1].numbers[i], forward[1].numbers[i]);
      EXPECT_EQ(together[1].numbers[part + i], reverse[1].numbers[i]);
      EXPECT_NEAR(together[1].numbers[part + i], backward[1].numbers[i], 2e-6);
      for (size_t t = 0; t < static_cast<size_t>(kSteps); ++t) {
        EXPECT_EQ(together[0].numbers[2 * t * part + i], forward[0].numbers[t * part + i]);
        EXPECT_EQ(together[0].numbers[(2 * t + 1) * part + i], reverse[0].numbers[t * part + i]);
        EXPECT_NEAR(together[0].numbers[(2 * t + 1) * part + i],
                    backward[0].numbers[(static_cast<size_t>(kSteps) - 1 - t) * part + i], 2e-6);
      }
    }
  }
}

/// A shorter row of the batch is what it is alone; behind its end the states are 0, and the last one stays.
TEST(OnnxRecurrent, RowsEndWhereTheirLengthSays) {
  const auto x = drawn(kSteps * kBatch * kInput, 2);
  const Weights w = weights(4, 30);
  const auto whole = cell("LSTM", 4, 1, x, w).run(3);
  const auto cut = cell("LSTM", 4, 1, x, w).constant<int32_t>({kBatch}, {4, 2}).run(3);
  const auto at = [](int64_t t, int64_t b, int64_t i) { return static_cast<size_t>((t * kBatch + b) * kHidden + i); };
  for (int64_t i = 0; i < kHidden; ++i) {
    EXPECT_EQ(cut[0].numbers[at(1, 1, i)], whole[0].numbers[at(1, 1, i)]);
    EXPECT_EQ(cut[0].numbers[at(2, 1, i)], 0);
    EXPECT_EQ(cut[1].numbers[at(0, 1, i)], whole[0].numbers[at(1, 1, i)]);
    EXPECT_EQ(cut[1].numbers[at(0, 0, i)], whole[1].numbers[at(0, 0, i)]);
  }
  EXPECT_NE(cell("LSTM", 4, 1, x, w).constant<int32_t>({kBatch}, {5, 2}).refusal(3).find("there are 4 steps"),
            std::string::npos);
}

/// One element, one step: the formula of the documentation with the reset behind the product, limits and other curves.
TEST(OnnxRecurrent, IsTheFormulaOfOneStep) {
  const float x = 0.5F, h = -0.8F;
  const std::vector<float> w{0.3F, -0.7F, 2.0F}, r{1.1F, 0.4F, -1.5F}, b{0.1F, 0.2F, 0.3F, -0.1F, 0.25F, 0.6F};
  const auto sum = [&](size_t g) { return static_cast<double>(w[g]) * x + b[g]; };
  const auto limited = [](double v) { return std::clamp(v, -1.0, 1.0); };
  OnnxNode node("GRU", 14);
  node.input<float>({1, 1, 1}, {x})
      .constant<float>({1, 3, 1}, w)
      .constant<float>({1, 3, 1}, r)
      .constant<float>({1, 6}, b);
  node.left_out().constant<float>({1, 1, 1}, {h}).set("linear_before_reset", 1).set("clip", 1.0F);
  node.set("activations", std::vector<std::string>{"HardSigmoid", "Softsign"});
  const auto hard = [](double v) { return std::clamp(0.2 * v + 0.5, 0.0, 1.0); };
  const double keep = hard(limited(sum(0) + static_cast<double>(r[0]) * h + b[3]));
  const double reset = hard(limited(sum(1) + static_cast<double>(r[1]) * h + b[4]));
  const double fresh = limited(sum(2) + reset * (static_cast<double>(r[2]) * h + b[5]));
  EXPECT_NEAR(node.run(2)[1].numbers[0], (1 - keep) * (fresh / (1 + std::abs(fresh))) + keep * h, 1e-6);
}

/// input_forget: what is taken is what is not kept.
TEST(OnnxRecurrent, CoupledGatesShareOne) {
  const std::vector<float> w{0.3F, -0.7F, 9.0F, 0.5F}, r{0, 0, 0, 0}, p{0.5F, -0.25F, 3.0F};
  OnnxNode node("LSTM", 14);
  node.input<float>({1, 1, 1}, {2})
      .constant<float>({1, 4, 1}, w)
      .constant<float>({1, 4, 1}, r)
      .left_out()
      .left_out()
      .left_out();
  node.constant<float>({1, 1, 1}, {0.7F}).constant<float>({1, 3}, p).set("input_forget", 1);
  const double take = sigmoid(0.6 + 0.5 * 0.7), c = (1 - take) * 0.7 + take * std::tanh(1.0);
  const auto y = node.run(3);
  EXPECT_NEAR(y[2].numbers[0], c, 1e-6);
  EXPECT_NEAR(y[1].numbers[0], sigmoid(-1.4 - 0.25 * c) * std::tanh(c), 1e-6);
}

/// What numpy.random.RandomState(0) gives: random_sample, standard_normal.
TEST(OnnxRandom, DrawsTheNumbersOfNumPy) {
  OnnxNode uniform("RandomUniform", 7);
  uniform.set("shape", std::vector<int64_t>{3}).set("seed", 0.0F).set("low", -1.0F).set("high", 3.0F);
  const auto u = uniform.run()[0].numbers;
  const double drawn_uniform[] = {0.5488135039273248, 0.7151893663724195, 0.6027633760716439};
  for (size_t i = 0; i < 3; ++i) EXPECT_NEAR(u[i], -1 + 4 * drawn_uniform[i], 1e-6);
  OnnxNode normal("RandomNormal", 7);
  normal.set("shape", std::vector<int64_t>{3}).set("seed", 0.0F).set("dtype", 11).set("mean", 1.0F);
  const auto n = normal.run()[0];
  EXPECT_EQ(n.dtype, DType::kDouble);
  const double drawn_normal[] = {1.764052345967664, 0.4001572083672233, 0.9787379841057392};
  for (size_t i = 0; i < 3; ++i) EXPECT_NEAR(n.numbers[i], 1 + drawn_normal[i], 1e-12);
}

TEST(OnnxRandom, ClassesComeAsOftenAsTheirShare) {
  OnnxNode node("Multinomial", 7);
  node.input<float>({1, 3}, {std::log(0.5F), std::log(0.3F), std::log(0.2F)})
      .set("sample_size", 20000)
      .set("seed", 3.0F);
  double count[3] = {};
  const std::vector<double> classes = node.run()[0].numbers;
  for (const double c : classes) ++count[static_cast<size_t>(c)];
  // Five deviations of a count of 20,000.
  EXPECT_NEAR(count[0], 10000, 354);
  EXPECT_NEAR(count[1], 6000, 325);
  EXPECT_NEAR(count[2], 4000, 283);
}

TEST(OnnxRandom, RefusesWhatIsNoProbability) {
  OnnxNode node("Bernoulli", 15);
  EXPECT_NE(node.input<float>({2}, {0.5, 1.5}).refusal().find("probabilities lie in [0, 1]"), std::string::npos);
  OnnxNode dropout("Dropout", 13);
  dropout.input<float>({2}, {1, 2}).constant<float>({}, {1.5F}).constant<bool, uint8_t>({}, {1});
  EXPECT_NE(dropout.refusal().find("ratio is 1.5"), std::string::npos);
}

/// As onnxruntime 1.24 gives it on its CPU, for one row: rows of a batch have a scale of their own here.
TEST(OnnxDynamicQuantizeLstm, RoundsInputsAndStatesToBytes) {
  const auto ramp = [](auto zero, size_t count, int64_t step, int64_t turn, int64_t below, double over) {
    std::vector<decltype(zero)> out;
    for (size_t i = 0; i < count; ++i)
      out.push_back(
          static_cast<decltype(zero)>(static_cast<double>(static_cast<int64_t>(i) * step % turn - below) / over));
    return out;
  };
  const auto both = ramp(float{}, 12, 5, 11, 5, 4);  // two rows; the first is taken
  OnnxNode node("DynamicQuantizeLSTM", 1);
  node.domain("com.microsoft").set("hidden_size", 3).set("direction", "bidirectional");
  node.input<float>({3, 1, 2}, {both[0], both[1], both[4], both[5], both[8], both[9]});
  node.constant<int8_t>({2, 2, 12}, ramp(int8_t{}, 48, 7, 61, 30, 1));
  node.constant<int8_t>({2, 3, 12}, ramp(int8_t{}, 72, 11, 83, 41, 1));
  node.constant<float>({2, 24}, ramp(float{}, 48, 1, 9, 4, 16)).left_out().left_out().left_out().left_out();
  node.constant<float>({2}, {0.02F, 0.03F}).constant<int8_t>({2}, {3, -2});
  OnnxNode wrong = node;
  node.constant<float>({2}, {0.01F, 0.015F}).constant<int8_t>({2}, {0, 5});
  const auto got = node.run(3);
  const std::vector<double> states = {0.1562408,  0.1363127,  0.1167963,  0.0797026, 0.0637041, -0.0185044,
                                      -0.0137228, -0.0141718, -0.0208932, 0.1486372, 0.2035752, -0.1594908,
                                      -0.0804149, -0.0781293, -0.0753428, 0.132909,  0.1381678, -0.0383219};
  ASSERT_EQ(got[0].numbers.size(), states.size());
  for (size_t i = 0; i < states.size(); ++i) EXPECT_NEAR(got[0].numbers[i], states[i], 2e-6) << "element " << i;
  const std::vector<double> memory = {-0.1894471, -0.1774717, -0.1662561, 0.1270164, 0.1055534, -0.0357789};
  for (size_t i = 0; i < memory.size(); ++i) EXPECT_NEAR(got[2].numbers[i], memory[i], 2e-6) << "element " << i;
  EXPECT_NE(wrong.constant<float>({3}, {1, 1, 1}).refusal(3).find("input 10 is 3; it must be 2 or 2x12"),
            std::string::npos);
}

}  // namespace
}  // namespace npu::graph::onnx
