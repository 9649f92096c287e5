// SPDX-License-Identifier: Apache-2.0
// Models with AIPP in front of them, run. What the operator computes is told bit by bit in ops/image/aipp_test.cpp.
#include "graph/model/aipp.h"

#include <gtest/gtest.h>

#include <cstring>

#include "graph/graph_fixture.h"
#include "graph/run/executable.h"
#include "graph/run/library.h"
#include "ops/image/aipp_block.h"

namespace npu::graph {
namespace {

constexpr int64_t kWidth = 4, kHeight = 2;

/// Bytes 0, 1, 2 …: pixels of three channels.
std::vector<uint8_t> counting(int64_t count) {
  std::vector<uint8_t> bytes(static_cast<size_t>(count));
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i);
  return bytes;
}

/// A model that doubles its pictures, with `text` in front of it.
TestFunction doubled(const std::string& text, const Dims& shape, bool channels_last) {
  TestFunction f("f");
  const Edge x = f.argument("x");
  f.function()->arguments[0].value.shape = {shape};
  (*f.function())[x.node].outputs[0].shape = {shape};
  f.result(f.node("AddV2", {x, x}));
  model::insert_aipp(*f.function(), model::read_aipp(text, "a.cfg"), channels_last);
  return f;
}

std::vector<float> run(const TestFunction& f, const std::vector<Value>& arguments) {
  Library library(0, {});
  Program program;
  program.add(f.function());
  library.add(program);
  return numbers_of<float>(library.get("f")->run(arguments)[0]);
}

TEST(AippNode, RunsInFrontOfAModel) {
  const std::string text = "aipp_op { aipp_mode: static input_format: RGB888_U8 rbuv_swap_switch: true mean_chn_1: 3 }";
  const Value bytes = value_of<uint8_t>({1, kHeight, kWidth, 3}, counting(kHeight * kWidth * 3));
  const std::vector<float> first = run(doubled(text, {1, 3, kHeight, kWidth}, false), {bytes});
  const std::vector<float> last = run(doubled(text, {1, kHeight, kWidth, 3}, true), {bytes});
  ASSERT_EQ(first.size(), 24U);
  for (int64_t c = 0; c < 3; ++c) {
    for (int64_t pixel = 0; pixel < kHeight * kWidth; ++pixel) {
      const auto want = static_cast<float>(2 * (pixel * 3 + 2 - c - (c == 1 ? 3 : 0)));
      EXPECT_EQ(first[static_cast<size_t>(c * kHeight * kWidth + pixel)], want);
      EXPECT_EQ(last[static_cast<size_t>(pixel * 3 + c)], want);
    }
  }
}

TEST(AippNode, TakesTheSizesOfTheCall) {
  const TestFunction f = doubled("aipp_op { aipp_mode: static input_format: YUV420SP_U8 }",
                                 {kUnknownDim, 1, kUnknownDim, kUnknownDim}, false);
  for (const int64_t batch : {1, 3}) {
    const std::vector<uint8_t> bytes = counting(batch * 12);
    const std::vector<float> got = run(f, {value_of<uint8_t>({batch, 3, 4, 1}, bytes)});
    ASSERT_EQ(got.size(), static_cast<size_t>(batch) * 8);
    for (size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i], 2.0f * bytes[i / 8 * 12 + i % 8]);
  }
}

TEST(AippNode, TakesParametersThatAnInputBrings) {
  const TestFunction f =
      doubled("aipp_op { aipp_mode: dynamic max_src_image_size: 96 }", {1, 1, kHeight, kWidth}, false);
  ops::AippHead head{.format = ops::PictureFormat::kGray, .width = 6, .height = 3};
  ops::AippPicture picture{.crops = 1, .left = 1, .top = 1, .width = kWidth, .height = kHeight};
  std::vector<uint8_t> block(sizeof(head) + sizeof(picture));
  const std::vector<uint8_t> bytes = counting(96);
  for (int16_t mean = 0; mean < 3; ++mean) {
    picture.mean[0] = mean;
    std::memcpy(block.data(), &head, sizeof(head));
    std::memcpy(block.data() + sizeof(head), &picture, sizeof(picture));
    const std::vector<float> got =
        run(f, {value_of<uint8_t>({96}, bytes), value_of<uint8_t>({static_cast<int64_t>(block.size())}, block)});
    ASSERT_EQ(got.size(), 8U);
    for (size_t i = 0; i < 8; ++i)
      EXPECT_EQ(got[i], 2.0f * static_cast<float>(bytes[(1 + i / 4) * 6 + 1 + i % 4] - mean));
  }
  block[0] = 9;
  EXPECT_THROW(run(f, {value_of<uint8_t>({96}, bytes), value_of<uint8_t>({static_cast<int64_t>(block.size())}, block)}),
               Error);
}

}  // namespace
}  // namespace npu::graph
