// SPDX-License-Identifier: Apache-2.0
#include "tools/compare/culprit/pairing.h"

#include "tools/compare/culprit/sample_run_fixture.h"

namespace npu::compare {
namespace {

using Names = std::vector<std::string>;

class Pairings : public SampleRuns {
 protected:
  void add(Run& run, const std::string& name, const std::string& type, const Values& output,
           const Names& originals = {}, const Names& makers = {}) {
    std::vector<Port> inputs;
    for (const std::string& maker : makers) inputs.push_back(port("input", output, kFloat, maker));
    Operator made = op(name, type, std::move(inputs), port("output 0", output));
    made.originals = originals;
    run.add(std::move(made));
  }
  static std::string twin(const Pairing& pairing, size_t i) {
    return pairing.twins[i] == nullptr ? "" : pairing.twins[i]->name;
  }
  Run mine_, golden_;
};

TEST_F(Pairings, NamesOfTheClientsModelComeFirst) {
  golden_.kind = Kind::kArrays;
  add(mine_, "npu_1", "MatMul", some(4), {"net/a"});
  add(mine_, "npu_2", "Fused", some(4, 9), {"net/b", "net/c"});  // gives what the last one gives
  add(mine_, "net/d:1", "Add", some(4, 5));
  for (const char* name : {"net_a", "net_b", "net_c", "net_d_1", "npu_2"}) add(golden_, name, "", some(4, 7));
  const Pairing pairing = pair_runs(mine_, golden_);
  EXPECT_EQ(Names({twin(pairing, 0), twin(pairing, 1), twin(pairing, 2)}), Names({"net_a", "net_c", "net_d_1"}));
  EXPECT_EQ(pairing.outputs[1][0], &golden_.find("net_c")->outputs[0]);
  EXPECT_EQ(pairing.ran, 3u);
  EXPECT_EQ(pairing.matched, 3u);
  EXPECT_EQ(pairing.by_structure, 0u);
  EXPECT_EQ(pairing.coverage(), 100);
  EXPECT_TRUE(pairing.missing.empty());
}

TEST_F(Pairings, OtherNamesAreFoundByTypeShapeAndNeighbours) {
  add(mine_, "x", "Relu", some(4)), add(mine_, "m1", "MatMul", some(6, 2), {}, {"x"});
  add(mine_, "m2", "MatMul", some(6, 3), {}, {"m1"});
  add(golden_, "x", "Relu", some(4)), add(golden_, "other2", "MatMul", some(6, 8), {}, {"other1"});
  add(golden_, "other1", "MatMul", some(6, 7), {}, {"x"});
  const Pairing pairing = pair_runs(mine_, golden_);
  EXPECT_EQ(Names({twin(pairing, 0), twin(pairing, 1), twin(pairing, 2)}), Names({"x", "other1", "other2"}));
  EXPECT_EQ(pairing.by_structure, 2u);
}

TEST_F(Pairings, WhatBothSidesHaveNotEquallyOftenIsNotGuessed) {
  add(mine_, "a", "Add", some(4)), add(mine_, "b", "Add", some(4, 2));
  add(golden_, "c", "Add", some(4, 7));
  const Pairing pairing = pair_runs(mine_, golden_);
  EXPECT_EQ(pairing.matched, 0u);
  EXPECT_EQ(pairing.missing, Names({"a", "b"}));
  EXPECT_EQ(pairing.golden_only, Names({"c"}));
  EXPECT_EQ(pairing.coverage(), 0);
}

TEST_F(Pairings, TheSameElementsAreTheSameTensorWhereJustOneHasThem) {
  golden_.kind = Kind::kArrays;
  add(mine_, "a", "Add", some(4)), add(mine_, "b", "Mul", some(4, 2));
  add(golden_, "u", "", some(4, 2)), add(golden_, "v", "", some(4)), add(golden_, "w", "", some(4));
  const Pairing pairing = pair_runs(mine_, golden_);
  EXPECT_EQ(twin(pairing, 0), "");
  EXPECT_EQ(twin(pairing, 1), "u");
}

TEST_F(Pairings, OutputsOfAnotherSizeAreNotCompared) {
  add(mine_, "a", "Add", some(4)), add(golden_, "a", "Add", some(5));
  const Pairing pairing = pair_runs(mine_, golden_);
  EXPECT_EQ(twin(pairing, 0), "a");
  EXPECT_EQ(pairing.outputs[0][0], nullptr);
  EXPECT_EQ(pairing.missing, Names({"a"}));
}

TEST_F(Pairings, AnInputIsWhatItsMakersPartnerGives) {
  golden_.kind = Kind::kArrays;  // files of outputs alone
  add(mine_, "a", "Add", some(4)), add(mine_, "b", "Relu", some(4, 2), {}, {"a"});
  add(golden_, "a", "", some(4)), add(golden_, "b", "", some(4, 2));
  EXPECT_EQ(pair_runs(mine_, golden_).inputs[1][0], &golden_.find("a")->outputs[0]);
}

}  // namespace
}  // namespace npu::compare
