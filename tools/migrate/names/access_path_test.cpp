// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/names/access_path.h"

#include <gtest/gtest.h>

#include <string>

namespace npu::migrate {
namespace {

std::string respelled(std::string_view text) {
  std::string out;
  spell(spelled_path(text), true, out);
  return out;
}

TEST(AccessPath, IsSpelledAsItWasRead) {
  for (const char* text : {"", "a", "a.b.c", "a.b().c[]", "a()()[].b"}) EXPECT_EQ(respelled(text), text);
  EXPECT_EQ(spelled_path("a.b()").size(), 3);
}

/// The parser finds such names in damaged programs; they have an end, too.
TEST(AccessPath, BracketsThatCloseNothingArePartOfAName) {
  EXPECT_EQ(spelled_path("a(b").size(), 2);
  EXPECT_EQ(spelled_path("a[b].c").size(), 3);
  EXPECT_EQ(spelled_path("(").size(), 1);
  EXPECT_EQ(spelled_path("..a").size(), 2);
}

}  // namespace
}  // namespace npu::migrate
