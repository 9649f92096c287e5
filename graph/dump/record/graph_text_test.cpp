// SPDX-License-Identifier: Apache-2.0
#include "graph/dump/record/graph_text.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/json.h"

namespace npu::graph::record {
namespace {

TEST(GraphText, NumbersStayNumbers) {
  const auto found =
      parse_graph_text("op { name: \"a\" id: 3 attr { key: \"alpha\" value { f: 0.25 } } }\nb: -1 c: inf");
  EXPECT_EQ(found.at("op").at(0).at("id"), 3);
  EXPECT_EQ(found.at("op").at(0).at("attr").at(0).at("value").at("f"), 0.25);
  EXPECT_EQ(found.at("b"), -1);
  EXPECT_EQ(found.at("c"), "inf");
}

TEST(GraphText, AScalarHasNoShape) {
  const auto found = parse_graph_text("input_desc { shape { } } input_desc { shape { dim: 2 } }").at("input_desc");
  EXPECT_EQ(found.dump(), R"([{},{"shape":{"dim":[2]}}])");
}

TEST(GraphText, ListsOfNumbersAreLists) {
  EXPECT_EQ(parse_graph_text("dst_name: \"a:b\" dst_index: 0").dump(), R"({"dst_index":[0],"dst_name":["a:b"]})");
}

TEST(GraphText, AMistakeIsToldWithItsLine) {
  try {
    parse_graph_text("op {\n  name:\n}");
    FAIL();
  } catch (const Error& reason) {
    EXPECT_EQ(reason.code(), Code::kParseFile);
    EXPECT_EQ(reason.message().rfind("line 3", 0), 0u) << reason.message();
  }
}

}  // namespace
}  // namespace npu::graph::record
