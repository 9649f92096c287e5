// SPDX-License-Identifier: Apache-2.0
#include "base/dims.h"

#include <gtest/gtest.h>

namespace npu {
namespace {

template <class F>
std::string text_of_failure(F&& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.message();
  }
  return "no failure";
}

TEST(Dims, GrowsShrinksInsertsErases) {
  Dims d{2, 3};
  d.push_back(4);
  d.insert(1, 9);
  EXPECT_EQ(d, (Dims{2, 9, 3, 4}));
  d.erase(0);
  EXPECT_EQ(d, (Dims{9, 3, 4}));
  d.resize(5, 7);
  EXPECT_EQ(d, (Dims{9, 3, 4, 7, 7}));
  d.resize(1);
  EXPECT_EQ(d, Dims{9});
  d.pop_back();
  EXPECT_TRUE(d.empty());
}

TEST(Dims, ARankAboveTheLimitNamesBoth) {
  EXPECT_EQ(text_of_failure([] { Dims(kMaxRank + 1, 1); }),
            "rank 17 is above the limit of 16 dimensions; reshape the tensor to fewer");
}

TEST(Dims, CountsElements) {
  EXPECT_EQ(count_of(Dims{}), 1);
  EXPECT_EQ(count_of(Dims{3, 0, 5}), 0);
  EXPECT_EQ(count_of(Dims{3, 4, 5}), 60);
}

TEST(Dims, ACountThatOverflowsIsRefusedUnlessTheShapeIsEmpty) {
  const int64_t huge = int64_t{1} << 40;
  EXPECT_EQ(count_of(Dims{huge, huge, 0}), 0);
  EXPECT_EQ(text_of_failure([&] { count_of(Dims{huge, huge}); }),
            "shape 1099511627776x1099511627776 has more elements than 64 bits can count");
}

TEST(Dims, ContiguousStridesTreatEmptyAxesAsOne) {
  EXPECT_EQ(contiguous_strides(Dims{2, 3, 4}), (Dims{12, 4, 1}));
  EXPECT_EQ(contiguous_strides(Dims{2, 0, 4}), (Dims{4, 4, 1}));
  EXPECT_EQ(contiguous_strides(Dims{}), Dims{});
}

TEST(Dims, BroadcastsByNumPysRule) {
  EXPECT_EQ(broadcast(Dims{3, 1}, Dims{4}), (Dims{3, 4}));
  EXPECT_EQ(broadcast(Dims{}, Dims{2, 2}), (Dims{2, 2}));
  EXPECT_EQ(broadcast(Dims{0}, Dims{1}), Dims{0});
  EXPECT_EQ(text_of_failure([] { broadcast(Dims{2, 3}, Dims{4}); }),
            "shapes 2x3 and 4 do not broadcast: sizes 3 and 4 differ and neither is 1");
}

TEST(Dims, NegativeDimensionsCountFromTheEnd) {
  EXPECT_EQ(wrap_dim(-1, 3), 2u);
  EXPECT_EQ(wrap_dim(0, 0), 0u);
  EXPECT_EQ(wrap_dim(-1, 0), 0u);
  EXPECT_EQ(text_of_failure([] { wrap_dim(3, 3); }), "dimension 3 is out of range; a tensor of rank 3 takes -3 to 2");
}

TEST(Dims, PrintAsUsersWriteThem) {
  EXPECT_EQ(to_string(Dims{}), "scalar");
  EXPECT_EQ(fmt::format("{}", Dims{3, 4}), "3x4");
}

}  // namespace
}  // namespace npu
