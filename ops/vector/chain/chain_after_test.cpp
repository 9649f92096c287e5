// SPDX-License-Identifier: Apache-2.0
// Products and convolutions followed by a chain against the two one after the other: the same bits, whatever pieces the
// result comes in.
#include "ops/vector/chain/chain_after.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ops/call_fixture.h"

namespace npu::ops {
namespace {

const DType kTypes[] = {DType::kFloat, DType::kHalf, DType::kBFloat16, DType::kDouble};
const std::vector<size_t> kLast{0, 2, 3, 1};

/// relu(x + row), and x + row.
std::shared_ptr<const ChainProgram> biased(DType dtype) {
  const ChainGroup group{
      {dtype, dtype}, {{"add", dtype, {{"self", 0}, {"other", 1}}}, {"relu", dtype, {{"self", 2}}}}, {3, 2}};
  return chain_program({group});
}

/// Memory as rows of its fastest axis.
Tensor rows(const Array& array, int64_t width) {
  const int64_t count = array.tensor().count();
  return array.tensor().view({width == 0 ? 0 : count / width, width}, {width, 1});
}

/// `result` is the field of what `make` computes, of `shape` and with axes in `order`.
void expect_same(const std::function<Call()>& make, const char* result, DType dtype, const Dims& shape,
                 const std::vector<size_t>& order = {}) {
  const int64_t width = order.empty() ? shape.back() : shape[order.back()];
  const Array row = Array(dtype, {width}).random(9), alone(dtype, shape, order), in_place(dtype, shape, order);
  const Array apart(dtype, shape, order), sum(dtype, shape, order), act(dtype, shape, order), want(dtype, shape, order);
  make().set(result, alone.tensor()).run();
  Call("chain")
      .set("inputs", std::vector<Tensor>{rows(alone, width), row})
      .set("outputs", std::vector<Tensor>{rows(want, width), rows(sum, width)})
      .set("program", biased(dtype))
      .run();
  const auto run = [&](const Array& out, const Array& other) {
    make()
        .set(result, out.tensor())
        .set("chain_inputs", std::vector<Tensor>{rows(out, width), row})
        .set("chain_outputs", std::vector<Tensor>{rows(act, width), rows(other, width)})
        .set("chain", biased(dtype))
        .run();
  };
  const Array other(dtype, shape, order);
  run(apart, other);
  EXPECT_EQ(apart.values(), alone.values());
  EXPECT_EQ(act.values(), want.values());
  EXPECT_EQ(other.values(), sum.values());
  run(in_place, in_place);
  EXPECT_EQ(act.values(), want.values());
  EXPECT_EQ(in_place.values(), sum.values());
}

TEST(ChainAfter, ProductsInTilesSlicesAndBatches) {
  struct Row {
    Dims a, b, out;
    std::vector<size_t> b_order;
  };
  const Row table[] = {
      {{3, 4}, {4, 5}, {3, 5}, {}},                          // one tile
      {{300, 70}, {70, 500}, {300, 500}, {}},                // tiles in both directions
      {{300, 70}, {70, 500}, {300, 500}, {1, 0}},            // the right one stored by columns
      {{20, 9000}, {9000, 30}, {20, 30}, {}},                // slices of the depth
      {{4, 6, 40, 16}, {4, 6, 16, 24}, {4, 6, 40, 24}, {}},  // one part for several products
      {{3, 200, 120}, {3, 120, 190}, {3, 200, 190}, {}},     // a batch of tiles
      {{5, 30, 64}, {64, 48}, {5, 30, 48}, {}},              // folds into one product
      {{2, 0, 3}, {2, 3, 4}, {2, 0, 4}, {}},                 // nothing
      {{3, 0}, {0, 4}, {3, 4}, {}},                          // zeros
      {{6, 5}, {5, 1}, {6, 1}, {}},                          // a column
  };
  for (const DType dtype : kTypes) {
    for (const Row& r : table) {
      SCOPED_TRACE(fmt::format("{} {} by {}", dtype, r.a, r.b));
      const Array a = Array(dtype, r.a).random(1), b = Array(dtype, r.b, r.b_order).random(2);
      expect_same([&] { return std::move(Call("matmul").set("self", a.tensor()).set("mat2", b.tensor())); }, "out",
                  dtype, r.out);
    }
  }
}

struct Images {
  Dims src, weight, dst;
  std::vector<int64_t> stride;
  int64_t groups = 1;
};

const Images kImages[] = {
    {{2, 16, 9, 9}, {24, 16, 1, 1}, {2, 24, 9, 9}, {1, 1}},        // a product
    {{3, 8, 12, 12}, {16, 8, 3, 3}, {3, 16, 10, 10}, {1, 1}},      // one part
    {{2, 32, 34, 34}, {64, 32, 3, 3}, {2, 64, 32, 32}, {1, 1}},    // blocks of rows
    {{16, 32, 18, 18}, {32, 32, 3, 3}, {16, 32, 16, 16}, {1, 1}},  // groups of images
    {{2, 256, 5, 5}, {256, 256, 3, 3}, {2, 256, 3, 3}, {1, 1}},    // slices of channels
    {{2, 12, 11, 11}, {12, 1, 3, 3}, {2, 12, 5, 5}, {2, 2}, 12},   // channel by channel
    {{3, 32, 17, 13}, {64, 32, 3, 3}, {3, 64, 15, 11}, {1, 1}},    // tiles of 2x2 pixels, those at the edges cut
    {{1, 64, 30, 30}, {256, 64, 3, 3}, {1, 256, 28, 28}, {1, 1}},  // and some of the channels at a time
};

TEST(ChainAfter, Convolutions) {
  for (const DType dtype : kTypes) {
    for (const Images& r : kImages) {
      SCOPED_TRACE(fmt::format("{} {} by {}", dtype, r.src, r.weight));
      const Array src = Array(dtype, r.src, kLast).random(1), weight = Array(dtype, r.weight).random(2);
      const auto call = [&] {
        Call made("convolution");
        made.set("input", src.tensor()).set("weight", weight.tensor()).set("stride", r.stride);
        made.set("padding", std::vector<int64_t>{0, 0}).set("dilation", std::vector<int64_t>{1, 1});
        return std::move(made.set("groups", r.groups));
      };
      expect_same(call, "out", dtype, r.dst, kLast);
      const auto kept = [&] { return std::move(call().set("kept_weight", true)); };
      if (dtype == DType::kFloat) expect_same(kept, "out", dtype, r.dst, kLast);
    }
  }
}

TEST(ChainAfter, GradientsOfImages) {
  for (const DType dtype : kTypes) {
    for (const Images& r : kImages) {
      SCOPED_TRACE(fmt::format("{} {} by {}", dtype, r.src, r.weight));
      const Array dst = Array(dtype, r.dst, kLast).random(1), weight = Array(dtype, r.weight).random(2);
      const Array src(dtype, r.src, kLast);
      const auto call = [&] {
        Call made("convolution_backward");
        made.set("grad_output", dst.tensor()).set("input", src.tensor()).set("weight", weight.tensor());
        made.set("stride", r.stride).set("padding", std::vector<int64_t>{0, 0});
        made.set("dilation", std::vector<int64_t>{1, 1}).set("groups", r.groups);
        return std::move(made.set("output_mask", std::vector<bool>{true, false, false}));
      };
      expect_same(call, "grad_input", dtype, r.src, kLast);
    }
  }
}

TEST(ChainAfter, RefusesOtherLayouts) {
  const Array a = Array(DType::kFloat, {2, 3}).random(1), out(DType::kFloat, {2, 2}, {1, 0});
  const Array b = Array(DType::kFloat, {3, 2}).random(2), images = Array(DType::kFloat, {1, 4, 3, 3}).random(3);
  const Array weight = Array(DType::kFloat, {4, 4, 1, 1}).random(4), first(DType::kFloat, {1, 4, 3, 3});
  EXPECT_EQ(Call("matmul")
                .set("self", a.tensor())
                .set("mat2", b.tensor())
                .set("out", out.tensor())
                .set("chain", biased(DType::kFloat))
                .refusal(),
            "out is float32[2x2]: a chain follows row-major results only");
  EXPECT_EQ(Call("convolution")
                .set("input", images.tensor())
                .set("weight", weight.tensor())
                .set("out", first.tensor())
                .set("stride", std::vector<int64_t>{1, 1})
                .set("padding", std::vector<int64_t>{0, 0})
                .set("dilation", std::vector<int64_t>{1, 1})
                .set("chain", biased(DType::kFloat))
                .refusal(),
            "out is float32[1x4x3x3]: a chain follows channels-last images only");
}

}  // namespace
}  // namespace npu::ops
