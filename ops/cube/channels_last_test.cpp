// SPDX-License-Identifier: Apache-2.0
#include "ops/cube/channels_last.h"

#include <gtest/gtest.h>

#include <vector>

#include "ops/call_fixture.h"

namespace npu::ops::cube {
namespace {

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
