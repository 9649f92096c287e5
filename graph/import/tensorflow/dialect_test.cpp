// SPDX-License-Identifier: Apache-2.0
#include "graph/import/tensorflow/dialect.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace npu::graph {
namespace {

std::string no_attribute(const Attribute&) { return {}; }

std::string refusal(std::vector<Dialect::Row> rows) {
  try {
    const Dialect dialect(rows, no_attribute);
  } catch (const Error& e) {
    return e.message();
  }
  return "holds";
}

TEST(Dialect, EveryKindHasASpellingThatLeadsBackToIt) {
  const Dialect& client = tensorflow::dialect();
  for (size_t i = 1; i < static_cast<size_t>(Kind::kCount); ++i) {
    const auto kind = static_cast<Kind>(i);
    ASSERT_FALSE(client.spellings(kind).empty()) << name_of(kind);
    EXPECT_EQ(client.spelling(kind), client.spellings(kind).front());
    for (const std::string_view op : client.spellings(kind)) EXPECT_EQ(client.kind_of(op), kind) << op;
    EXPECT_EQ(kind_named(name_of(kind)), kind);
  }
  EXPECT_EQ(client.kind_of("Xlogy"), Kind::kOpaque);
  EXPECT_TRUE(client.spellings(Kind::kOpaque).empty());
  EXPECT_EQ(kind_named("xlogy"), Kind::kOpaque);
}

TEST(Dialect, SpellingsOfOneMeaningAreOneKind) {
  const Dialect& client = tensorflow::dialect();
  EXPECT_EQ(client.kind_of("Add"), client.kind_of("AddV2"));
  EXPECT_EQ(client.spelling(Kind::kAdd), "AddV2");
  // What differs in its lowering, its part in fusions or its attributes is none.
  EXPECT_NE(client.kind_of("BatchMatMulV2"), client.kind_of("BatchMatMulV3"));
  EXPECT_EQ(client.kind_of("BiasAddV1"), Kind::kOpaque);
}

TEST(Dialect, RefusesTablesThatContradictThemselves) {
  EXPECT_EQ(refusal({{"add", "Plus"}, {"subtract", "Minus"}}), "holds");
  EXPECT_EQ(refusal({{"plus", "Plus"}}), "plus is no kind, or stands twice");
  EXPECT_EQ(refusal({{"add", "Plus"}, {"add", "And"}}), "add is no kind, or stands twice");
  EXPECT_EQ(refusal({{"add", "Plus"}, {"subtract", "Plus"}}), "Plus is said to be of two kinds");
}

TEST(Dialect, AClientNeedNotHaveAWordForEveryKind) {
  const std::vector<Dialect::Row> rows{{"add", "Plus"}};
  const Dialect client(rows, no_attribute);
  EXPECT_EQ(client.kind_of("Plus"), Kind::kAdd);
  try {
    client.spelling(Kind::kCast);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.message(), "the client has no word for cast");
  }
}

TEST(Kind, Families) {
  for (const Kind kind : {Kind::kProduct, Kind::kBatchProduct, Kind::kWideBatchProduct, Kind::kEinsum})
    EXPECT_TRUE(is_product(kind) && !is_convolution(kind)) << name_of(kind);
  for (const Kind kind : {Kind::kConvolution, Kind::kDepthwiseConvolutionInputGrad}) EXPECT_TRUE(is_convolution(kind));
  EXPECT_FALSE(is_convolution(Kind::kConvolutionFilterGrad));
  for (const Kind kind : {Kind::kIdentity, Kind::kReshape, Kind::kExpandDims, Kind::kSqueeze})
    EXPECT_TRUE(is_view(kind));
  EXPECT_FALSE(is_view(Kind::kCast));
  EXPECT_TRUE(is_float_status(Kind::kResetFloatStatus));
  EXPECT_FALSE(is_float_status(Kind::kOpaque));
}

}  // namespace
}  // namespace npu::graph
