// SPDX-License-Identifier: Apache-2.0
#include "graph/import/tensorflow/saved_model/crc32c.h"

#include <gtest/gtest.h>

#include <string>

namespace npu::graph::tensorflow {
namespace {

TEST(Crc32c, GivesTheNumbersOfItsStandard) {
  EXPECT_EQ(crc32c("123456789"), 0xE3069283U);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAU);
  EXPECT_EQ(crc32c(std::string(32, '\xFF')), 0x62A8AB43U);
  EXPECT_EQ(crc32c(""), 0U);
}

TEST(Crc32c, GoesOnFromAnyPlace) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += static_cast<char>(i * 37);
  for (size_t cut = 0; cut <= text.size(); ++cut)
    EXPECT_EQ(crc32c(text.substr(cut), crc32c(text.substr(0, cut))), crc32c(text)) << cut;
}

TEST(Crc32c, IsMaskedInFiles) { EXPECT_EQ(masked(0xE3069283), 0xC78AB0E5U); }

}  // namespace
}  // namespace npu::graph::tensorflow
