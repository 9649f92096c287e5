// SPDX-License-Identifier: Apache-2.0
// Against the documented formulas, written once more for one element at a time, bit by bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "base/half.h"
#include "ops/call_fixture.h"
#include "ops/image/aipp_block.h"

namespace npu::ops {
namespace {

struct Config {
  AippHead head;
  std::vector<AippPicture> pictures{1};
  double padding_value = 0;

  std::string block() const {
    std::string bytes(sizeof(head) + pictures.size() * sizeof(AippPicture), '\0');
    AippHead counted = head;
    counted.pictures = static_cast<int8_t>(pictures.size());
    std::memcpy(bytes.data(), &counted, sizeof(counted));
    std::memcpy(bytes.data() + sizeof(head), pictures.data(), pictures.size() * sizeof(AippPicture));
    return bytes;
  }
};

std::vector<uint8_t> random_bytes(int64_t count, unsigned seed) {
  std::mt19937 engine(seed);
  std::vector<uint8_t> out(static_cast<size_t>(count));
  for (uint8_t& byte : out) byte = static_cast<uint8_t>(engine());
  return out;
}

/// Channel `c` of a pixel of the picture, its channels in the order of the model.
int channel(const AippHead& h, const uint8_t* picture, int64_t x, int64_t y, int c) {
  if (h.format == PictureFormat::kGray) return picture[y * h.width + x];
  if (h.format == PictureFormat::kYuv420) {
    if (c == 0) return picture[y * h.width + x];
    const uint8_t* pair = picture + h.width * h.height + (y / 2) * h.width + x - x % 2;
    return pair[(c == 1) == (h.swaps == 0) ? 0 : 1];
  }
  if (c < 3 && h.swaps) c = 2 - c;
  if (h.format == PictureFormat::kRgb) return picture[(y * h.width + x) * 3 + c];
  return picture[(y * h.width + x) * 4 + (h.rotates ? (c + 1) % 4 : c)];
}

int colour(const AippHead& h, const uint8_t* picture, int64_t x, int64_t y, int c) {
  if (!h.converts || c > 2) return channel(h, picture, x, y, c);
  const bool yuv = h.format == PictureFormat::kYuv420;
  int sum = 0;
  for (int k = 0; k < 3; ++k) sum += h.matrix[c * 3 + k] * (channel(h, picture, x, y, k) - (yuv ? h.input_bias[k] : 0));
  return std::clamp(static_cast<int>(std::floor(sum / 256.0)) + (yuv ? 0 : h.output_bias[c]), 0, 255);
}

float expected(const Config& config, const std::vector<uint8_t>& images, int64_t n, int c, int64_t y, int64_t x) {
  const AippHead& h = config.head;
  const AippPicture& p = config.pictures[config.pictures.size() == 1 ? 0 : static_cast<size_t>(n)];
  const uint8_t* picture = images.data() + n * picture_bytes(h.format, h.width, h.height);
  const int64_t width = p.crops ? p.width : h.width, height = p.crops ? p.height : h.height;
  const int64_t inner_x = x - (p.pads ? p.pad_left : 0), inner_y = y - (p.pads ? p.pad_top : 0);
  if (inner_x < 0 || inner_y < 0 || inner_x >= width || inner_y >= height)
    return Half(static_cast<float>(config.padding_value));
  const int value = colour(h, picture, inner_x + (p.crops ? p.left : 0), inner_y + (p.crops ? p.top : 0), c);
  const Half centred(static_cast<float>(value - p.mean[c]));
  const Half above(static_cast<float>(centred) - Half::to_float(p.min[c]));
  return Half(static_cast<float>(above) * Half::to_float(p.scale[c]));
}

/// Runs it with `images` and compares every element, with the parameters in the call and in memory.
void check(const Config& config, DType dtype, const Dims& shape, std::vector<size_t> order = {}) {
  std::vector<uint8_t> images =
      random_bytes(shape[0] * picture_bytes(config.head.format, config.head.width, config.head.height), 7);
  std::string block = config.block();
  for (const bool in_memory : {false, true}) {
    const Array out(dtype, shape, order);
    Call call("aipp");
    call.set("images", make_tensor(images.data(), DType::kUInt8, {static_cast<int64_t>(images.size())}));
    if (in_memory)
      call.set("parameters", make_tensor(block.data(), DType::kUInt8, {static_cast<int64_t>(block.size())}));
    else
      call.set("block", block);
    call.set("padding_value", config.padding_value).set("out", out.tensor()).run();
    const std::vector<double> got = out.values();
    size_t i = 0;
    for (int64_t n = 0; n < shape[0]; ++n)
      for (int c = 0; c < shape[1]; ++c)
        for (int64_t y = 0; y < shape[2]; ++y)
          for (int64_t x = 0; x < shape[3]; ++x, ++i)
            ASSERT_EQ(got[i], expected(config, images, n, c, y, x)) << n << " " << c << " " << y << " " << x;
  }
}

/// BT.601 narrow to RGB, as the vendor's pages give it.
constexpr int16_t kToRgb[9] = {298, 0, 409, 298, -100, -208, 298, 516, 0};

Config yuv_config() {
  Config config;
  config.head = {.format = PictureFormat::kYuv420, .converts = 1, .width = 34, .height = 18};
  std::copy_n(kToRgb, 9, config.head.matrix);
  const uint8_t bias[3] = {16, 128, 128};
  std::copy_n(bias, 3, config.head.input_bias);
  // What belongs to the other direction must not be used.
  std::copy_n(bias, 3, config.head.output_bias);
  return config;
}

void normalise(AippPicture& picture) {
  for (int c = 0; c < 4; ++c) {
    picture.mean[c] = static_cast<int16_t>(104 + 13 * c);
    picture.min[c] = Half(0.675f * static_cast<float>(c)).bits;
    picture.scale[c] = Half(0.0171247538f + 0.001f * static_cast<float>(c)).bits;
  }
}

TEST(Aipp, TurnsYuvIntoRgb) {
  Config config = yuv_config();
  check(config, DType::kHalf, {2, 3, 18, 34});
  config.head.swaps = 1;
  normalise(config.pictures[0]);
  check(config, DType::kHalf, {1, 3, 18, 34});
  check(config, DType::kFloat, {1, 3, 18, 34}, {0, 2, 3, 1});
}

TEST(Aipp, CutsOutAndPads) {
  Config config = yuv_config();
  config.padding_value = 114.3;
  config.pictures[0] = {.crops = 1, .pads = 1, .left = 4, .top = 2, .width = 21, .height = 9};
  config.pictures[0].pad_top = 1, config.pictures[0].pad_bottom = 2;
  config.pictures[0].pad_left = 3, config.pictures[0].pad_right = 4;
  normalise(config.pictures[0]);
  check(config, DType::kFloat, {2, 3, 12, 28});
}

TEST(Aipp, EachPictureHasItsOwnPart) {
  Config config = yuv_config();
  config.pictures.assign(3, {.crops = 1, .width = 8, .height = 6});
  for (int i = 0; i < 3; ++i) {
    config.pictures[i].left = 2 * i, config.pictures[i].top = 4 * i;
    config.pictures[i].mean[1] = static_cast<int16_t>(i);
  }
  check(config, DType::kHalf, {3, 3, 6, 8});
}

TEST(Aipp, TakesEveryOrderOfChannels) {
  for (const PictureFormat format : {PictureFormat::kRgb, PictureFormat::kXrgb}) {
    for (int bits = 0; bits < 8; ++bits) {
      Config config;
      config.head = {.format = format,
                     .converts = static_cast<int8_t>(bits & 1),
                     .swaps = static_cast<int8_t>(bits >> 1 & 1),
                     .rotates = static_cast<int8_t>(bits >> 2),
                     .width = 19,
                     .height = 5};
      const int16_t to_yuv[9] = {66, 129, 25, -38, -74, 112, 112, -94, -18};
      const uint8_t bias[3] = {16, 128, 128};
      std::copy_n(to_yuv, 9, config.head.matrix);
      std::copy_n(bias, 3, config.head.output_bias);
      std::copy_n(bias, 3, config.head.input_bias);
      normalise(config.pictures[0]);
      check(config, DType::kHalf, {1, channels_of(format), 5, 19});
      check(config, DType::kHalf, {1, 1, 5, 19});  // a model of gray pictures
    }
  }
}

TEST(Aipp, TakesGray) {
  Config config;
  config.head = {.format = PictureFormat::kGray, .width = 7, .height = 3};
  check(config, DType::kFloat, {4, 1, 3, 7});
}

std::string refusal_of(const Config& config, const Dims& shape, int64_t bytes = 1 << 20) {
  static std::vector<uint8_t> images(1 << 20);
  const Array out(DType::kHalf, shape);
  Call call("aipp");
  return call.set("images", make_tensor(images.data(), DType::kUInt8, {bytes}))
      .set("block", config.block())
      .set("out", out.tensor())
      .refusal();
}

TEST(Aipp, RefusesWhatDoesNotFit) {
  const Config good = yuv_config();
  const Dims shape{1, 3, 18, 34};
  EXPECT_EQ(refusal_of(good, shape), "");
  const auto wrong = [&](auto change) {
    Config config = good;
    change(config);
    return refusal_of(config, shape);
  };
  EXPECT_NE(wrong([](Config& c) { c.head.format = static_cast<PictureFormat>(5); }).find("input format is 5"),
            std::string::npos);
  EXPECT_NE(wrong([](Config& c) { c.head.width = 33; }).find("even"), std::string::npos);
  EXPECT_NE(wrong([](Config& c) { c.head.height = -2; }).find("between 1"), std::string::npos);
  EXPECT_NE(wrong([](Config& c) { c.pictures[0].resizes = 1; }).find("not built"), std::string::npos);
  EXPECT_NE(wrong([](Config& c) { c.pictures[0].pads = 2; }).find("kind is 2"), std::string::npos);
  EXPECT_NE(wrong([](Config& c) { c.pictures[0] = {.crops = 1, .left = 2, .width = 33, .height = 18}; }).find("crop"),
            std::string::npos);
  EXPECT_NE(wrong([](Config& c) { c.pictures[0] = {.crops = 1, .left = 1, .width = 4, .height = 4}; }).find("even"),
            std::string::npos);
  EXPECT_NE(wrong([](Config& c) { c.pictures[0] = {.crops = 1, .width = 4, .height = 4}; }).find("4 x 4"),
            std::string::npos);
  EXPECT_NE(refusal_of(good, {1, 4, 18, 34}).find("4 channels"), std::string::npos);
  EXPECT_NE(refusal_of(good, shape, 100).find("100 bytes"), std::string::npos);
  Config several = good;
  several.pictures.resize(2);
  EXPECT_NE(refusal_of(several, {3, 3, 18, 34}).find("2 pictures"), std::string::npos);
}

// Parameters in memory are read when the work runs; what is wrong then must not be a crash.
TEST(Aipp, RefusesWrongMemoryWhenItRuns) {
  Config config = yuv_config();
  std::vector<uint8_t> images(34 * 18 * 3 / 2);
  const std::string right = config.block();
  std::string block = right;
  const Array out(DType::kHalf, {1, 3, 18, 34});
  Call call("aipp");
  call.set("images", make_tensor(images.data(), DType::kUInt8, {static_cast<int64_t>(images.size())}))
      .set("parameters", make_tensor(block.data(), DType::kUInt8, {static_cast<int64_t>(block.size())}))
      .set("out", out.tensor())
      .prepare();
  call.compute();
  std::mt19937 engine(3);
  for (int round = 0; round < 2000; ++round) {
    std::ranges::copy(right, block.begin());  // where the call reads them
    for (int k = 0; k < 4; ++k) block[engine() % block.size()] = static_cast<char>(engine());
    try {
      call.compute();
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Code::kNnInvalidParam);
    }
  }
}

}  // namespace
}  // namespace npu::ops
