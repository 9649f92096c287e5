// SPDX-License-Identifier: Apache-2.0
// Damaged models: ONNX's node tests with fields dropped, doubled, swapped, overwritten and cut off. Each is refused
// with an Error, or read, verified and taken through the passes. Round n is the same every time; ANYNPU_FUZZ_SECONDS
// makes more of them than the few of a usual run, ANYNPU_FUZZ_FIRST starts at a later one.
#include <gtest/gtest.h>

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
  const Rounds rounds = fuzz(2000, [&](size_t round, Random& random) {
    read_and_compile(damaged_often(random, cases[round % cases.size()].model));
  });
  EXPECT_GT(rounds.refused, 100u);
  EXPECT_GT(rounds.accepted, 100u);
}

}  // namespace
}  // namespace npu::graph::onnx
