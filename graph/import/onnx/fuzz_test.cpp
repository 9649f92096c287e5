// SPDX-License-Identifier: Apache-2.0
// Damaged models: ONNX's node tests with fields dropped, doubled, swapped, overwritten and cut off. Each is refused
// with an Error, or read, verified and taken through the passes. Round n is the same every time; ANYNPU_FUZZ_SECONDS
// makes more of them than the few of a usual run, ANYNPU_FUZZ_FIRST starts at a later one.
#include <gtest/gtest.h>

#include <chrono>
#include <iostream>

#include "base/error.h"
#include "graph/import/damage_fixture.h"
#include "graph/import/onnx/node_data_fixture.h"
#include "graph/ir/verify.h"
#include "graph/run/executable.h"
#include "graph/run/library.h"

namespace npu::graph::onnx {
namespace {

void read_and_compile(const std::string& bytes) {
  const Imported model = read_model(bytes);
  for (const auto& [name, function] : model.program.functions) verify(*function, model.program);
  Library library(0);
  library.add(model.program);
  library.get(model.function);
}

TEST(Fuzz, DamagedOnnxModelsAreRefusedOrCompiled) {
  const std::vector<NodeCase> cases = node_cases();
  if (cases.empty()) GTEST_SKIP() << "libonnx-testdata is not installed";
  const std::chrono::seconds limit(number_of_variable("ANYNPU_FUZZ_SECONDS", 0));
  const auto end = std::chrono::steady_clock::now() + limit;
  const auto first = static_cast<size_t>(number_of_variable("ANYNPU_FUZZ_FIRST", 0));
  size_t refused = 0, compiled = 0;
  for (size_t round = first; round < first + 2000 || std::chrono::steady_clock::now() < end; ++round) {
    if (limit.count() > 0 && round % 10000 == 0) std::cerr << "round " << round << std::endl;
    Random random(round);
    const std::string bytes = damaged_often(random, cases[round % cases.size()].model);
    try {
      read_and_compile(bytes);
      ++compiled;
    } catch (const Error& e) {
      EXPECT_FALSE(e.message().empty());
      ++refused;
    } catch (const std::exception& e) {
      ADD_FAILURE() << "round " << round << " of " << cases[round % cases.size()].name << ": " << e.what();
    }
  }
  EXPECT_GT(refused, 100u);
  EXPECT_GT(compiled, 100u);
}

}  // namespace
}  // namespace npu::graph::onnx
