// SPDX-License-Identifier: Apache-2.0
#include "tools/compare/rule/fusion_rule.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "base/json.h"
#include "graph/dump/record/graph_text.h"
#include "tools/compare/exit/refusal.h"

namespace npu::compare {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kText = R"(# made by a test
graph {
  name: "model"
  op { name: "x" type: "Data" id: 0 }
  op {
    name: "fused" type: "MatMul" id: 3 input: "x:0" input: "control:-1"
    attr { key: "_datadump_original_op_names" value { list { s: "net/dense" s: "net/\"relu\"" } } }
    output_desc {
      dtype: DT_FLOAT16
      shape { dim: 2 dim: -1 }
      attr { key: "_datadump_origin_name" value { s: "net/\"relu\"" } }
      attr { key: "_datadump_origin_output_index" value { i: 1 } }
      attr { key: "origin_shape" value { list { i: 2 i: 3 } } }
    }
  }
  op {
    name: "other" type: "Relu" id: 1
    attr { key: "_datadump_original_op_names" value { list { s: "net/dense" s: "net/\"relu\"" } } }
    attr { key: "_datadump_is_multiop" value { b: true } }
  }
}
)";

class Rules : public testing::Test {
 protected:
  void TearDown() override { fs::remove(path_); }
  FusionRule rule(std::string_view text) {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << text;
    return FusionRule(path_);
  }
  std::string path_ = fs::temp_directory_path() / ("anynpu_rule_" + std::to_string(getpid()));
};

TEST_F(Rules, AreReadFromTheTextOfAGraph) {
  const FusionRule found = rule(kText);
  ASSERT_EQ(found.groups().size(), 2u);
  EXPECT_EQ(found.groups()[1].size(), 2u);
  const RuleOp& op = found.find("fused");
  EXPECT_EQ(op.inputs, std::vector<std::string>{"x:0"});
  EXPECT_EQ(op.originals, (std::vector<std::string>{"net/dense", "net/\"relu\""}));
  EXPECT_EQ(op.outputs.at(0).name, "net/\"relu\"");
  EXPECT_EQ(op.outputs.at(0).index, 1u);
  EXPECT_EQ(op.outputs.at(0).shape, (graph::record::Shape{2, 3}));
  EXPECT_TRUE(found.find("other").is_inner());
  EXPECT_EQ(found.op(found.by_sequence()[1]).name, "other");
  EXPECT_EQ(found.input_nodes(), std::vector<std::string>{"x"});
  EXPECT_THROW(found.find("nobody"), Refusal);
}

TEST_F(Rules, AreTheSameFromAFusionFile) {
  const FusionRule found = rule(graph::record::parse_graph_text(kText).dump());
  EXPECT_EQ(found.groups(), rule(kText).groups());
  EXPECT_EQ(found.find("fused").outputs.at(0).shape, (graph::record::Shape{2, 3}));
}

TEST_F(Rules, AMistakeIsToldWithItsLine) {
  try {
    rule("graph {\n  op {\n    name: }\n}\n");
    FAIL();
  } catch (const Refusal& reason) {
    EXPECT_EQ(reason.code(), Exit::kJson);
    EXPECT_NE(std::string(reason.what()).find("line 3"), std::string::npos);
  }
}

TEST_F(Rules, AnyTextGivesARuleOrARefusal) {
  std::mt19937 random(11);
  const std::string json = graph::record::parse_graph_text(kText).dump();
  for (int i = 0; i < 3000; ++i) {
    std::string damaged(i % 2 ? kText : json);
    for (int change = 0; change < 1 + i % 3; ++change)
      damaged[random() % damaged.size()] = "{}[]\":,1sx \n"[random() % 12];
    if (i % 5 == 0) damaged.resize(random() % damaged.size());
    try {
      rule(damaged);
    } catch (const Refusal&) {
    }
  }
}

TEST_F(Rules, WhatIsQuantisedIsMarked) {
  const FusionRule found = rule(R"({"graph": [{"op": [
    {"name": "a_quant_layer", "type": "Quant", "id": 1, "output_desc": [{"dtype": "DT_INT8", "attr": []}]},
    {"name": "inside", "type": "Conv", "id": 2, "input": ["a_quant_layer:0"], "output_desc": [{"dtype": "DT_INT32", "attr": []}]},
    {"name": "b_dequant_layer", "type": "D", "id": 3, "input": ["inside:0"], "output_desc": [{"dtype": "DT_FLOAT16", "attr": []}]},
    {"name": "after", "type": "Relu", "id": 4, "input": ["b_dequant_layer:0"], "output_desc": [{"dtype": "DT_FLOAT16", "attr": []}]}
  ]}]})");
  EXPECT_FALSE(found.find("a_quant_layer").quantised);
  EXPECT_TRUE(found.find("inside").quantised);
  EXPECT_FALSE(found.find("b_dequant_layer").quantised);
  EXPECT_FALSE(found.find("after").quantised);
}

}  // namespace
}  // namespace npu::compare
