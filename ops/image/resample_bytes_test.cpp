// SPDX-License-Identifier: Apache-2.0
// Images of bytes, whose weights are whole numbers and whose sums are rounded once an axis. The right values are those
// of torch's CPU (2.13): F.interpolate(x, size=(5, 7), mode=...).
#include <gtest/gtest.h>

#include <vector>

#include "ops/call_fixture.h"

namespace npu::ops {
namespace {

std::vector<double> resized(const char* mode) {
  std::vector<uint8_t> image{5, 25, 59, 107, 169, 245, 79, 183, 45, 177, 67, 227};
  const Array out = Array(DType::kUInt8, {1, 1, 5, 7}).filled(9);
  Call("upsample")
      .set("self", make_tensor(image.data(), DType::kUInt8, {1, 1, 3, 4}))
      .set("output_size", std::vector<int64_t>{5, 7})
      .set("mode", std::string(mode))
      .set("out", out.tensor())
      .run();
  return out.values();
}

TEST(ResampleBytes, AreWeightedAsOnTheCpu) {
  EXPECT_EQ(resized("linear"),
            (std::vector<double>{5,  12,  24,  42, 62,  90,  107, 71, 86,  110, 90, 72, 112, 137, 169, 196, 240, 162,
                                 86, 146, 183, 95, 134, 197, 138, 81, 160, 209, 45, 92, 168, 122, 78,  170, 227}));
}

TEST(ResampleBytes, AreCutToBytesWhereWeightsOvershoot) {
  EXPECT_EQ(resized("cubic"),
            (std::vector<double>{0,  0,   0,   27, 62,  89,  104, 74, 93,  115, 88, 69, 108, 140, 161, 205, 248, 159,
                                 77, 137, 193, 93, 153, 220, 143, 74, 158, 229, 20, 87, 168, 115, 70,  169, 248}));
}

}  // namespace
}  // namespace npu::ops
