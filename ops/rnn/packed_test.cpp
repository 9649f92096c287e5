// SPDX-License-Identifier: Apache-2.0
// Sequences of several lengths: the layouts that clients pack them in, and what is no packing.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ops/call_fixture.h"

namespace npu::ops {
namespace {

constexpr DType kF = DType::kFloat;
constexpr int64_t kSteps = 3, kBatch = 2, kIn = 2, kHidden = 2, kRows = 4;  // lengths 3 and 1

Tensor ints(std::vector<int64_t>& values) {
  return make_tensor(values.data(), DType::kInt64, {static_cast<int64_t>(values.size())});
}

/// A GRU of one layer over `input`, packed by `sizes`.
struct Gru {
  Array w_ih = Array(kF, {3 * kHidden, kIn}).random(1), w_hh = Array(kF, {3 * kHidden, kHidden}).random(2);
  Array hx = Array(kF, {1, kBatch, kHidden}).random(3), h_n{kF, {1, kBatch, kHidden}};
  std::vector<int64_t> sizes{2, 1, 1};

  Call call(const Tensor& input, const Tensor& output) {
    Call made("gru");
    made.set("input", input).set("params", std::vector<Tensor>{w_ih, w_hh}).set("hx", hx.tensor());
    made.set("batch_sizes", ints(sizes)).set("has_biases", false).set("train", false);
    made.set("output", output).set("h_n", h_n.tensor());
    return made;
  }
  std::string refusal(const Tensor& input, const Tensor& output) {
    Call made = call(input, output);
    if (std::string text = made.refusal(); !text.empty()) return text;
    try {
      made.compute();
    } catch (const Error& error) {
      return error.message();
    }
    return "";
  }
};

TEST(Packed, RowsWithAndWithoutPaddingGiveOneResult) {
  Gru gru;
  const Array rows = Array(kF, {kRows, kIn}).random(4), out(kF, {kRows, kHidden});
  Array wide = Array(kF, {kSteps * kBatch, kIn}).filled(1e30), wide_out(kF, {kSteps, kBatch, kHidden});
  // Steps: both sequences, then the first one alone.
  const int64_t places[kRows] = {0, 1, 2, 4};
  for (int64_t row = 0; row < kRows; ++row)
    std::memcpy(wide.tensor().as<float>() + places[row] * kIn, rows.tensor().as<float>() + row * kIn,
                kIn * sizeof(float));
  gru.call(rows, out).run();
  const std::vector<double> last = gru.h_n.values();
  gru.call(wide, wide_out).run();
  EXPECT_EQ(gru.h_n.values(), last);
  std::vector<double> expected(kSteps * kBatch * kHidden);
  for (int64_t row = 0; row < kRows; ++row)
    for (int64_t k = 0; k < kHidden; ++k)
      expected[static_cast<size_t>(places[row] * kHidden + k)] = out.values()[static_cast<size_t>(row * kHidden + k)];
  EXPECT_EQ(wide_out.values(), expected) << "padding is 0";
  EXPECT_EQ((std::vector(last.begin() + 2, last.end())), (std::vector(expected.begin() + 2, expected.begin() + 4)))
      << "the short sequence keeps its last state";
}

TEST(Packed, WhatIsNoPackingIsRefused) {
  Gru gru;
  const Array rows(kF, {kRows, kIn}), out(kF, {kRows, kHidden}), steps(kF, {kSteps, kBatch, kIn});
  EXPECT_EQ(gru.refusal(rows, out), "");
  EXPECT_NE(gru.refusal(steps, out).find("with batch_sizes it is packed: rows x features"), std::string::npos);
  gru.sizes = {1, 2, 1};
  EXPECT_NE(gru.refusal(rows, out).find("batch_sizes[0] is 1; it begins with the batch, 2"), std::string::npos);
  gru.sizes = {2, 1, 2};
  EXPECT_NE(gru.refusal(rows, out).find("batch_sizes[2] is 2; "), std::string::npos);
  gru.sizes = {2, 1, 0};
  EXPECT_NE(gru.refusal(rows, out).find("batch_sizes[2] is 0; "), std::string::npos);
  gru.sizes = {2, 2, 1};
  EXPECT_NE(gru.refusal(rows, out).find("add up to 5, but input has 4 rows; give as many, or 3x2"), std::string::npos);
}

/// One layer of the single-operator interface; `seq_length` and `direction` as given.
struct Layer {
  Array x = Array(kF, {kSteps, kBatch, kIn}).random(5), w = Array(kF, {kIn + kHidden, 4 * kHidden}).random(6);
  Array h = Array(kF, {kBatch, kHidden}).random(7), c = Array(kF, {kBatch, kHidden}).random(8);
  std::vector<Array> results;
  Layer() {
    results.reserve(8);  // an Array stays where it is: its view points into it
    for (int k = 0; k < 8; ++k) results.emplace_back(kF, Dims{kSteps, kBatch, kHidden});
  }

  Call call(const Tensor& seq_length, const std::string& direction) {
    const char* names[] = {"y", "output_h", "output_c", "i", "j", "f", "o", "tanhc"};
    Call made("dynamic_rnn");
    made.set("x", x.tensor()).set("w", w.tensor()).set("init_h", h.tensor()).set("init_c", c.tensor());
    made.set("seq_length", seq_length).set("direction", direction);
    for (size_t k = 0; k < 8; ++k) made.set(names[k], results[k].tensor());
    return made;
  }
};

TEST(Packed, LengthsAndMasksSayTheSameInBothDirections) {
  std::vector<int64_t> lengths{3, 1};
  Array mask = Array(DType::kHalf, {kSteps, kBatch, kHidden}).filled(0);
  const double runs[] = {1, 1, 1, 0, 1, 0};
  for (int64_t at = 0; at < kSteps * kBatch; ++at)
    for (int64_t k = 0; k < kHidden; ++k)
      mask.tensor().as<Half>()[at * kHidden + k] = Half(static_cast<float>(runs[at]));
  for (const char* direction : {"UNIDIRECTIONAL", "REDIRECTIONAL"}) {
    Layer by_length, by_mask, whole;
    by_length.call(ints(lengths), direction).run();
    by_mask.call(mask, direction).run();
    whole.call({}, direction).run();
    EXPECT_EQ(by_length.results[0].values(), by_mask.results[0].values()) << direction;
    const std::vector<double> y = by_mask.results[0].values(), all = whole.results[0].values();
    for (size_t at = 0; at < y.size(); ++at) {
      const bool first = at / kHidden % kBatch == 0;
      if (first) {
        EXPECT_EQ(y[at], all[at]) << direction << " " << at;
      } else if (at >= kBatch * kHidden) {
        EXPECT_EQ(y[at], 0) << direction << " " << at;
      }
    }
  }
}

TEST(Packed, WrongLengthsDirectionsAndProjectionsSayWhatIsRight) {
  Layer layer;
  std::vector<int64_t> three{3, 1, 1};
  EXPECT_NE(layer.call(ints(three), "UNIDIRECTIONAL").refusal().find("it must be the 2 lengths, or 3x2x2 with 1"),
            std::string::npos);
  EXPECT_NE(layer.call({}, "BIDIRECTIONAL").refusal().find("direction is BIDIRECTIONAL"), std::string::npos);
  const Array narrow = Array(kF, {kIn + 1, 4 * kHidden}).random(6);
  Call projected = layer.call({}, "UNIDIRECTIONAL");
  EXPECT_NE(projected.set("w", narrow.tensor()).refusal().find("projection (proj_size)"), std::string::npos);
}

}  // namespace
}  // namespace npu::ops
