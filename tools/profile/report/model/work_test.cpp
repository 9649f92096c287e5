// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/report/model/work.h"

#include <gtest/gtest.h>

#include <list>
#include <string>

#include "tools/profile/report/fact/recorded_fixture.h"

namespace npu::profile {
namespace {

Tensors of(const std::string& shapes, const std::string& type = "FLOAT") {
  std::string types = type;
  for (const char c : shapes)
    if (c == ';') types += ";" + type;
  static std::list<std::string> texts;  // in which the types lie
  return listed(texts.emplace_back(shapes + "|" + types + "|"));
}

double product(const std::string& inputs, const std::string& output) {
  return product_operations(of(inputs), of(output)).value_or(-1);
}

double convolution(std::string_view type, const std::string& inputs, const std::string& outputs) {
  return convolution_operations(type, of(inputs), of(outputs)).value_or(-1);
}

double attention(std::string_view type, const Tensors& inputs, const Tensors& outputs) {
  const auto found = attention_operations(type, inputs, outputs);
  return found ? found->cube : -1;
}

Work work(std::string_view type, Unit unit, std::string_view inputs, std::string_view outputs, uint64_t bytes = 0,
          double ranks = 0) {
  Recorded run;
  TaskRecord& task = run.task(type, 0, 1, 0, unit);
  task.inputs = run.text(inputs), task.outputs = run.text(outputs), task.bytes = bytes;
  return work_of(run.trace, task, ranks);
}

TEST(Listed, ShapesTypesAndScalars) {
  const Tensors found = listed("2,3;;4|FLOAT;INT64;DT_BF16|ND;ND;ND");
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].count(), 6);
  EXPECT_EQ(found[1].count(), 1);
  EXPECT_EQ(found[2].type, "DT_BF16");
  EXPECT_TRUE(listed("||").empty());
  EXPECT_TRUE(listed("").empty());
  ASSERT_EQ(listed("|FLOAT|ND").size(), 1u);
  EXPECT_EQ(listed("|FLOAT|ND")[0].rank(), 0u);
  EXPECT_EQ(width_of("COMPLEX64"), 8);
  EXPECT_EQ(width_of("FLOAT8_E5M2"), 0);
}

TEST(Product, IsFoundHoweverItIsTransposed) {
  EXPECT_EQ(product("4,5;5,6", "4,6"), 2 * 4 * 5 * 6);
  EXPECT_EQ(product("4,5;6,5", "4,6"), 2 * 4 * 5 * 6);
  EXPECT_EQ(product("5,4;5,6", "6,4"), 2 * 4 * 5 * 6);
  EXPECT_EQ(product("5,5;5,5", "5,5"), 2 * 5 * 5 * 5);
}

TEST(Product, OfBatchesAndVectors) {
  EXPECT_EQ(product("8,4,5;8,5,6", "8,4,6"), 8 * 2 * 4 * 5 * 6);
  EXPECT_EQ(product("8,4,5;5,6", "8,4,6"), 8 * 2 * 4 * 5 * 6);
  EXPECT_EQ(product("4,5;5", "4"), 2 * 4 * 5);
  EXPECT_EQ(product("7;7", ""), 2 * 7);
}

TEST(Product, WhatIsAddedIsNoFactor) {
  EXPECT_EQ(product("6;4,5;5,6", "4,6"), 2 * 4 * 5 * 6);
  EXPECT_EQ(product("4,6;4,5;5,6", "4,6"), 2 * 4 * 5 * 6);
  EXPECT_EQ(product("4,9;9,6;6", "4,6"), 2 * 4 * 9 * 6);
}

TEST(Product, WhatDoesNotFitIsNotTold) {
  EXPECT_EQ(product("4,5;7,6", "4,6"), -1);
  EXPECT_EQ(product("4,5", "4,6"), -1);
  EXPECT_FALSE(product_operations(of("4,5;5,6"), {}));
}

TEST(Convolution, ChannelsFirstAndLast) {
  EXPECT_EQ(convolution("Conv2D", "2,3,8,8;16,3,5,5", "2,16,4,4"), 2.0 * (2 * 16 * 4 * 4) * (3 * 5 * 5));
  EXPECT_EQ(convolution("Conv2D", "2,8,8,3;5,5,3,16", "2,4,4,16"), 2.0 * (2 * 16 * 4 * 4) * (3 * 5 * 5));
  EXPECT_EQ(convolution("Conv2D", "2,6,8,8;16,3,5,5;16", "2,16,8,8"), 2.0 * (2 * 16 * 8 * 8) * (3 * 5 * 5));  // groups
  EXPECT_EQ(convolution("Conv2D", "2,3,8;16,3,5", "2,16,4"), 2.0 * (2 * 16 * 4) * (3 * 5));
}

TEST(Convolution, DepthwiseAndTransposed) {
  EXPECT_EQ(convolution("DepthwiseConv2D", "2,8,8,6;3,3,6,2", "2,8,8,12"), 2.0 * (2 * 8 * 8 * 12) * 9);
  EXPECT_EQ(convolution("DepthwiseConv2D", "2,6,8,8;6,1,3,3", "2,6,8,8"), 2.0 * (2 * 8 * 8 * 6) * 9);
  EXPECT_EQ(convolution("Conv2D", "2,16,4,4;16,3,5,5", "2,3,8,8"), 2.0 * (2 * 16 * 4 * 4) * (3 * 5 * 5));
  EXPECT_EQ(convolution("Conv2D", "2,3,4,4;3,3,5,5", "2,3,8,8"), 2.0 * (2 * 3 * 4 * 4) * (3 * 5 * 5));
}

TEST(Convolution, Gradients) {
  const double once = 2.0 * (2 * 16 * 4 * 4) * (3 * 5 * 5);
  EXPECT_EQ(convolution("ConvolutionBackward", "2,16,4,4;2,3,8,8;16,3,5,5", "2,3,8,8;16,3,5,5;16"), 2 * once);
  EXPECT_EQ(convolution("ConvolutionBackward", "2,16,4,4;2,3,8,8;16,3,5,5", "16,3,5,5;16"), once);
  EXPECT_EQ(convolution("Conv2DBackpropInput", "4;5,5,3,16;2,4,4,16", "2,8,8,3"), once);
  EXPECT_EQ(convolution("Conv2DBackpropFilter", "2,8,8,3;4;2,4,4,16", "5,5,3,16"), once);
  EXPECT_EQ(convolution("Conv2D", "2,3,8,8;16,4,5,5", "2,16,4,4"), -1);
  EXPECT_EQ(convolution("Conv2D", "2,3,8,8;0,3,5,5", "2,0,4,4"), -1);
}

TEST(Attention, TheLengthOfTheKeysIsFoundInAnyLayout) {
  const Tensors statistics = listed("2,8,64,8;2,8,64,16|FLOAT;FLOAT16|");
  const double all = 4.0 * (2 * 8 * 64 * 16) * 32;
  EXPECT_EQ(attention("FlashAttentionScore", of("2,8,64,16;2,8,32,16;2,8,32,16"), statistics), all);
  EXPECT_EQ(attention("FlashAttentionScore", of("2,64,8,16;2,32,2,16;2,32,2,16"), statistics), all);
  EXPECT_EQ(attention("FlashAttentionScore", of("2,64,128;2,32,128;2,32,128"), statistics), all);
  EXPECT_EQ(attention("FusedInferAttentionScoreV2", of("2,1,8,16;2,32,8,16;2,32,8,16"), of("2,1,8,16")),
            4.0 * (2 * 8 * 16) * 32);
  EXPECT_EQ(attention("FlashAttentionScoreGrad", of("2,8,64,16;2,8,32,16;2,8,32,16;2,8,64,8"), of("2,8,64,16")),
            2.5 * all);
  const auto found = attention_operations("FlashAttentionScore", of("2,8,64,16;2,8,32,16;2,8,32,16"), statistics);
  EXPECT_EQ(found->vector, 5.0 * 2 * 8 * 64 * 32);
}

TEST(Attention, WhatMayBeTwoThingsIsNotTold) {
  EXPECT_EQ(attention("FusedInferAttentionScore", of("2,8,64,16;2,8,64,16;2,8,64,16"), of("2,8,64,16")), -1);
  EXPECT_EQ(attention("FusedInferAttentionScore", of("2,64,128;2,64,128;2,64,128"), of("2,64,128")), -1);
  EXPECT_EQ(attention("FusedInferAttentionScore", of("16,4,128;99,128,128;99,128,128"), of("16,4,128")), -1);
  EXPECT_EQ(attention("FlashAttentionVarLenScore", of("90,8,16;90,8,16;90,8,16"), of("90,8,8;90,8,16")), -1);
  EXPECT_FALSE(work("LstmRNN", Unit::kMixed, "3,2|FLOAT|", "3,2|FLOAT|", 24).told);
}

TEST(Work, OfElements) {
  const Work add = work("Add", Unit::kVector, "3,1;4|FLOAT16;FLOAT16|", "3,4|FLOAT16|", 38);
  EXPECT_EQ(add.vector, 12);
  EXPECT_EQ(add.vector_width, 2);
  EXPECT_EQ(add.bytes, 38);
  EXPECT_EQ(work("ReduceSum", Unit::kVector, "3,4|FLOAT|", "3|FLOAT|").vector, 12);
  EXPECT_EQ(work("ForeachAdd", Unit::kVector, "3,4;5|FLOAT;FLOAT|", "3,4;5|FLOAT;FLOAT|").vector, 17);
  EXPECT_EQ(work("Add", Unit::kVector, "0,4;4|FLOAT;FLOAT|", "0,4|FLOAT|", 16).vector, 4);
}

TEST(Work, ATypeOfSizesIsNotThatOfTheProduct) {
  const Work gradient =
      work("Conv2DBackpropInput", Unit::kCube, "4;5,5,3,16;2,4,4,16|INT32;FLOAT16;FLOAT16|", "2,8,8,3|FLOAT16|");
  EXPECT_EQ(gradient.cube_type, "FLOAT16");
  EXPECT_EQ(work("Dot", Unit::kCube, "7;7|FLOAT;FLOAT|", "|FLOAT|").cube_type, "FLOAT");
}

TEST(Work, OfWhoTakesPartsOnlyTheseBytesAreRead) {
  const std::string_view table = "1000,4;10|FLOAT;INT64|", rows = "10,4|FLOAT|";
  EXPECT_EQ(work("GatherV2", Unit::kVector, table, rows, 16'240).bytes, 160 + 160 + 80);
  EXPECT_EQ(work("GatherGrad", Unit::kVector, table, rows, 16'240).bytes, 16'240);
}

TEST(Work, OfHugeTensors) {
  const Work huge = work("MatMulV2", Unit::kCube, "9000000000,9000000000;9000000000,9000000000|FLOAT;FLOAT|",
                         "9000000000,9000000000|FLOAT|", ~uint64_t{0});
  EXPECT_NEAR(huge.cube / (2 * 9e9 * 9e9 * 9e9), 1, 1e-9);
  EXPECT_TRUE(huge.told);
}

TEST(Work, ExchangesOfCollectives) {
  const auto exchange = [](std::string_view type, std::string_view in, std::string_view out, uint64_t bytes,
                           double ranks) { return work(type, Unit::kCollective, in, out, bytes, ranks); };
  EXPECT_EQ(exchange("HcomAllReduce", "100|FLOAT|", "100|FLOAT|", 400, 4).to_peer, 200);
  EXPECT_EQ(exchange("HcomAllReduce", "100|FLOAT|", "100|FLOAT|", 400, 4).sent, 600);
  EXPECT_EQ(exchange("HcomAllGather", "100|FLOAT|", "800|FLOAT|", 400, 0).sent, 2800);
  EXPECT_EQ(exchange("HcomReduceScatter", "800|FLOAT|", "100|FLOAT|", 3200, 0).to_peer, 400);
  EXPECT_EQ(exchange("HcomBroadcast", "||", "100|FLOAT|", 0, 4).to_peer, 200);
  EXPECT_EQ(exchange("HcomScatter", "||", "25|FLOAT|", 0, 4).to_peer, 100);
  EXPECT_EQ(exchange("HcomRecv", "||", "25|FLOAT|", 0, 0).to_peer, 100);
  EXPECT_EQ(exchange("HcomSend", "25|FLOAT|", "||", 100, 0).sent, 100);
  EXPECT_EQ(exchange("HcomAllReduce", "100|FLOAT|", "100|FLOAT|", 400, 1).sent, 0);
  EXPECT_NE(exchange("HcomAllReduce", "100|FLOAT|", "100|FLOAT|", 400, 0).missing, "");
  EXPECT_NE(exchange("HcomBatchSendRecv", "1|FLOAT|", "1|FLOAT|", 4, 2).missing, "");
}

}  // namespace
}  // namespace npu::profile
