// SPDX-License-Identifier: Apache-2.0
// Segments, positions by rows of indices, different elements in their order.
#include <gtest/gtest.h>

#include <vector>

#include "ops/runner/call.h"

namespace npu::ops {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<int64_t>;

template <class T>
Tensor tensor(std::vector<T>& data, const Dims& shape) {
  return make_tensor(data.data(), dtype_of<T>, shape);
}

Floats segments(int64_t reduction, Ints ids, int64_t count, bool drop_beyond = false) {
  Floats x{1, 2, 3, 4, 5, 6}, out(static_cast<size_t>(count) * 2);
  Call("segment")
      .set("self", tensor(x, {3, 2}))
      .set("index", tensor(ids, {3}))
      .set("reduction", reduction)
      .set("empty", Scalar(9))
      .set("drop_beyond", drop_beyond)
      .set("out", tensor(out, {count, 2}))
      .run();
  return out;
}

TEST(Segment, EachReduction) {
  EXPECT_EQ(segments(1, {1, 0, 1}, 3), (Floats{3, 4, 6, 8, 9, 9}));
  EXPECT_EQ(segments(2, {1, 0, 1}, 2), (Floats{3, 4, 5, 12}));
  EXPECT_EQ(segments(3, {0, 0, 0}, 1), (Floats{5, 6}));
  EXPECT_EQ(segments(4, {0, 0, 0}, 1), (Floats{1, 2}));
  EXPECT_EQ(segments(5, {0, 0, 0}, 1), (Floats{3, 4}));
}

TEST(Segment, NegativeNumbersArePassedOverAndLargeOnesOnlyWhenAsked) {
  EXPECT_EQ(segments(1, {-1, 0, -5}, 1), (Floats{3, 4}));
  EXPECT_THROW(segments(1, {0, 1, 2}, 2), Error);
  EXPECT_EQ(segments(1, {0, 7, 0}, 1, true), (Floats{6, 8}));
}

TEST(GatherNd, RowsNamePositions) {
  Floats x{1, 2, 3, 4, 5, 6}, out(2);
  Ints at{2, 1, 0, 0};
  Call call("gather_nd");
  call.set("self", tensor(x, {3, 2})).set("indices", tensor(at, {2, 2})).set("out", tensor(out, {2})).run();
  EXPECT_EQ(out, (Floats{6, 1}));
  at[0] = -1;
  EXPECT_THROW(call.compute(), Error);
}

TEST(ScatterNdUpdate, SumsAreTakenInOrderAndMayBeNegative) {
  Floats x{1, 1, 1}, update{5, 7, 2}, out(3);
  Ints at{0, 2, 0};
  Call call("scatter_nd_update");
  call.set("self", tensor(x, {3})).set("indices", tensor(at, {3, 1})).set("updates", tensor(update, {3}));
  call.set("reduction", int64_t{1}).set("alpha", Scalar(-1)).set("out", tensor(out, {3})).run();
  EXPECT_EQ(out, (Floats{-6, 1, -6}));
  call.set("reduction", int64_t{3}).run();
  EXPECT_EQ(out, (Floats{5, 1, 7}));
}

TEST(UniqueInOrder, FirstAppearancesWithPlacesAndCounts) {
  Floats x{3, 1, 3, -0.0f, 0.0f}, y(5);
  std::vector<int32_t> places(5), counts(5);
  Tensor different = tensor(y, {5}), said = different;
  different.origin = &said;
  Call("unique_in_order")
      .set("self", tensor(x, {5}))
      .set("y", different)
      .set("inverse", tensor(places, {5}))
      .set("counts", tensor(counts, {5}))
      .run();
  EXPECT_EQ(said.shape, Dims{3});
  EXPECT_EQ((Floats{y.begin(), y.begin() + 3}), (Floats{3, 1, 0}));
  EXPECT_EQ(places, (std::vector<int32_t>{0, 1, 0, 2, 2}));
  EXPECT_EQ((std::vector<int32_t>{counts.begin(), counts.begin() + 3}), (std::vector<int32_t>{2, 1, 2}));
}

// 1.1 in float32 is more: its pixels would be one off at multiples of 11.
TEST(Upsample, AFactorInFloat32IsTheNumberThatWasMeant) {
  Floats x(100), out(110), wanted(110);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  for (size_t i = 0; i < out.size(); ++i) wanted[i] = static_cast<float>(i * 10 / 11);
  Call("upsample")
      .set("self", tensor(x, {1, 1, 1, 100}))
      .set("output_size", Ints{1, 110})
      .set("scales_w", static_cast<double>(1.1F))
      .set("mode", std::string("nearest"))
      .set("out", tensor(out, {1, 1, 1, 110}))
      .run();
  EXPECT_EQ(out, wanted);
}

TEST(Upsample, FromTheFirstElementsOwnPosition) {
  Floats x{0, 2, 4}, out(6);
  Call("upsample")
      .set("self", tensor(x, {1, 1, 1, 3}))
      .set("output_size", Ints{1, 6})
      .set("mode", std::string("linear_origin"))
      .set("out", tensor(out, {1, 1, 1, 6}))
      .run();
  EXPECT_EQ(out, (Floats{0, 1, 2, 3, 4, 4}));
}

}  // namespace
}  // namespace npu::ops
