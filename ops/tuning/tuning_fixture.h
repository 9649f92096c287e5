// SPDX-License-Identifier: Apache-2.0
// For tests: banks in a folder that goes with the test.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "base/setting.h"
#include "ops/tuning/bank.h"

namespace npu::ops::tuning {

class WithBanks : public ::testing::Test {
 protected:
  void SetUp() override {
    folder = std::filesystem::temp_directory_path() / ("anynpu_bank_" + std::to_string(getpid()));
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    use_bank_folder(folder);
  }
  void TearDown() override {
    use_bank_folder(before_);
    std::filesystem::remove_all(folder);
  }

  static std::string text_of(const std::filesystem::path& file) {
    std::ifstream from(file);
    std::ostringstream text;
    text << from.rdbuf();
    return text.str();
  }

  /// An entry that won.
  static Entry winner(std::string way, std::string time = "2026-11-26T10:00:00Z") {
    return {.way = std::move(way),
            .usual = "library",
            .won = true,
            .usual_us = 120.5,
            .way_us = 100.25,
            .ratio = 1.2,
            .low = 1.15,
            .high = 1.25,
            .noise = 0.01,
            .pairs = 11,
            .threads = 2,
            .time = std::move(time),
            .product = std::string(product_version())};
  }

  std::filesystem::path folder;

 private:
  std::filesystem::path before_ = use_bank_folder({});
};

}  // namespace npu::ops::tuning
