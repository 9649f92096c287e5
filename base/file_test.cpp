// SPDX-License-Identifier: Apache-2.0
#include "base/file.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

namespace npu {
namespace {

TEST(File, IsReadAsAWhole) {
  const std::string path = testing::TempDir() + "file_test";
  for (const size_t bytes : {0, 1, 65536, 200'001}) {
    std::string text(bytes, '\0');
    for (size_t i = 0; i < bytes; ++i) text[i] = static_cast<char>(i * 7);
    std::ofstream(path, std::ios::binary) << text;
    EXPECT_EQ(whole_file(path), text);
  }
  std::filesystem::remove(path);
}

TEST(File, WhatCannotBeReadHasAReason) {
  EXPECT_FALSE(whole_file(testing::TempDir() + "no_such_file"));
  EXPECT_EQ(errno, ENOENT);
  EXPECT_FALSE(whole_file(testing::TempDir()));
  EXPECT_EQ(errno, EISDIR);
  EXPECT_FALSE(whole_file("/proc/self/mem"));  // opened, then refused, as that of a process that has ended
  EXPECT_EQ(errno, EIO);
}

}  // namespace
}  // namespace npu
