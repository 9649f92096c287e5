// SPDX-License-Identifier: Apache-2.0
#include "ops/cube/channels_last.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "ops/call_fixture.h"

namespace npu::ops::cube {
namespace {

template <class T>
void check_transpose(int64_t rows, int64_t cols) {
  std::vector<T> from(static_cast<size_t>(rows * (cols + 2))), to(static_cast<size_t>(cols * (rows + 1)), T(7));
  std::iota(from.begin(), from.end(), T(0));
  transpose(from.data(), cols + 2, rows, cols, sizeof(T), to.data(), rows + 1);
  for (int64_t c = 0; c < cols; ++c) {
    for (int64_t r = 0; r <= rows; ++r) {
      const T want = r == rows ? T(7) : from[static_cast<size_t>(r * (cols + 2) + c)];
      ASSERT_EQ(to[static_cast<size_t>(c * (rows + 1) + r)], want) << rows << "x" << cols << " at " << r << "," << c;
    }
  }
}

TEST(Transpose, EverySizeAndElement) {
  for (const int64_t rows : {1, 3, 4, 8, 17, 33, 70}) {
    for (const int64_t cols : {1, 2, 5, 8, 16, 31, 65}) {
      check_transpose<uint16_t>(rows, cols);
      check_transpose<uint32_t>(rows, cols);
      check_transpose<uint64_t>(rows, cols);
    }
  }
}

TEST(ChannelsLast, ThereAndBack) {
  for (const DType dtype : {DType::kFloat, DType::kHalf, DType::kBFloat16, DType::kDouble}) {
    for (const Dims& shape :
         {Dims{2, 3, 5, 7}, Dims{1, 40, 9, 9}, Dims{2, 33, 1, 70}, Dims{2, 1, 4, 4}, Dims{2, 5, 2, 3, 4}}) {
      std::vector<size_t> last{0}, turned{0, 1};
      for (size_t d = 2; d < shape.size(); ++d) last.push_back(d), turned.insert(turned.begin() + 2, d);
      last.push_back(1);
      for (const auto& order : {std::vector<size_t>{}, last, turned}) {
        const DType slot = dtype == DType::kDouble ? DType::kDouble : DType::kFloat;
        const Array images = Array(dtype, shape, order).random(1), back(dtype, shape, order), plain(slot, shape, last);
        EXPECT_TRUE(is_channels_last(plain));
        to_channels_last(images, slot, plain.tensor().bytes());
        EXPECT_EQ(plain.values(), images.values());
        from_channels_last(plain.tensor().bytes(), slot, back);
        EXPECT_EQ(back.values(), images.values());
      }
    }
  }
}

}  // namespace
}  // namespace npu::ops::cube
