// SPDX-License-Identifier: Apache-2.0
// Dumps into a folder of the test's own, and a function that leaves two files.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "graph/dump/tensor/tensor_dump.h"
#include "graph/graph_fixture.h"
#include "graph/run/executable.h"
#include "graph/run/library.h"

namespace npu::graph {

namespace fs = std::filesystem;

class DumpTest : public ::testing::Test {
 protected:
  void SetUp() override {
    path = fs::temp_directory_path() / fmt::format("anynpu-dump-{}", getpid());
    fs::remove_all(path);
    fs::create_directories(path);
    config.path = path.string();
  }
  void TearDown() override {
    stop_dump();
    fs::remove_all(path);
  }

  void begin() {
    start_dump(config, [this](const std::string& text) { told.push_back(text); });
    folder = dump_folder();
  }
  /// Ends the dump; its files by their path in it.
  std::vector<std::string> files() {
    stop_dump();
    std::vector<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(folder))
      if (entry.is_regular_file()) names.push_back(fs::relative(entry.path(), folder).string());
    std::sort(names.begin(), names.end());
    return names;
  }
  static std::string text_of(const fs::path& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
  }

  fs::path path, folder;
  DumpConfig config;
  std::vector<std::string> told;
};

/// x @ w, of which the rectified part is the result.
struct Layer {
  explicit Layer(const std::string& product_name = "", int device = 0) : library(device, {}) {
    TestFunction f("step");
    const Edge x = f.argument("x"), w = f.argument("w"), product = f.node("MatMul", {x, w});
    f.with(product, "transpose_a", false).with(product, "transpose_b", false);
    if (!product_name.empty())
      (*f.function())[product.node].name = (*f.function())[product.node].client_name = product_name;
    f.result(f.node("Relu", {product}));
    library.switch_off({"matmul_epilogue"});
    Program program;
    program.add(f.function());
    library.add(program);
  }
  void run(std::vector<float> x = {1, 2}) {
    library.get("step", Role::kRoot)
        ->run({value_of<float>({1, 2}, std::move(x)), value_of<float>({2, 2}, {1, -1, 1, -1})});
  }
  Library library;
};

inline std::vector<float> floats(std::span<const std::byte> bytes) {
  std::vector<float> out(bytes.size() / 4);
  std::memcpy(out.data(), bytes.data(), bytes.size());
  return out;
}

}  // namespace npu::graph
