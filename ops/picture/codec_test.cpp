// SPDX-License-Identifier: Apache-2.0
// Files written and read again, and what becomes of damaged ones.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <string>

#include "base/error.h"
#include "ops/picture/jpeg.h"
#include "ops/picture/png.h"

namespace npu::ops {
namespace {

/// A picture of smooth colours, which a codec hardly changes.
struct Smooth {
  std::vector<uint8_t> bytes;
  Picture picture;
  Smooth(PixelFormat format, int64_t width, int64_t height) : picture{format, width, height, 0, height, nullptr} {
    picture.row = width * pixel_bytes(format);
    bytes.resize(static_cast<size_t>(bytes_of(format, picture.row, height)));
    picture.data = bytes.data();
    const PictureView view = planes_of(picture);
    for (int c = 0; c < view.channels; ++c) {
      const Plane& plane = view.planes[static_cast<size_t>(c)];
      for (int64_t y = 0; y < plane.height; ++y)
        for (int64_t x = 0; x < plane.width; ++x)
          *plane.at(x, y) = static_cast<uint8_t>(60 + 40 * c + 50 * x / plane.width + 30 * y / plane.height);
    }
  }
  PictureView view() const { return planes_of(picture); }
};

double distance(const PictureView& a, const PictureView& b) {
  double most = 0;
  for (int c = 0; c < a.channels; ++c) {
    const Plane p = a.planes[static_cast<size_t>(c)], q = b.planes[static_cast<size_t>(c)];
    for (int64_t y = 0; y < p.height; ++y)
      for (int64_t x = 0; x < p.width; ++x) most = std::max(most, std::abs(double(*p.at(x, y)) - *q.at(x, y)));
  }
  return most;
}

TEST(Jpeg, GoesThereAndBack) {
  for (const PixelFormat format : {PixelFormat::kYuv420sp, PixelFormat::kRgb, PixelFormat::kYuv400}) {
    for (const auto& [width, height] : {std::pair{64, 48}, {34, 18}, {2, 2}}) {
      const Smooth from(format, width, height), to(format, width, height);
      std::fill_n(to.picture.data, to.bytes.size(), uint8_t{0});
      const std::vector<std::byte> file = encode_jpeg(from.view(), 100, {});
      EXPECT_LE(static_cast<int64_t>(file.size()), jpeg_bound(width, height));
      const JpegInfo info = jpeg_info(file);
      EXPECT_EQ(info.width, width);
      EXPECT_EQ(info.height, height);
      EXPECT_EQ(info.sampling, format == PixelFormat::kYuv400 ? JpegSampling::kGray : JpegSampling::k420);
      decode_jpeg(file, [&](const JpegInfo&) { return to.view(); }, {});
      EXPECT_LE(distance(from.view(), to.view()), format == PixelFormat::kRgb ? 12 : 3) << width;
    }
  }
}

// Colours that 2 x 2 pixels share need even sizes: of an odd file the last block gives the row and column more.
TEST(Jpeg, AnOddFileFillsAnEvenPicture) {
  const Smooth from(PixelFormat::kRgb, 33, 17), to(PixelFormat::kYuv420sp, 34, 18), rgb(PixelFormat::kRgb, 34, 18);
  decode_jpeg(encode_jpeg(from.view(), 100, {}),
              [&](const JpegInfo& info) {
                EXPECT_EQ(info.width, 33);
                return to.view();
              },
              {});
  transform(to.view(), rgb.view(), {});
  EXPECT_LE(distance(from.view(), rgb.view().part(0, 0, 33, 17)), 12);
}

TEST(Jpeg, QualityDecidesTheSize) {
  std::mt19937 engine(1);
  Smooth noise(PixelFormat::kYuv420sp, 64, 64);
  for (uint8_t& byte : noise.bytes) byte = static_cast<uint8_t>(engine());
  const size_t small = encode_jpeg(noise.view(), 10, {}).size(), large = encode_jpeg(noise.view(), 100, {}).size();
  EXPECT_LT(2 * small, large);
  EXPECT_LE(static_cast<int64_t>(large), jpeg_bound(64, 64));
}

TEST(Jpeg, RefusesDamage) {
  const Smooth from(PixelFormat::kYuv420sp, 64, 48), to(PixelFormat::kYuv420sp, 64, 48);
  const std::vector<std::byte> file = encode_jpeg(from.view(), 90, {});
  std::mt19937 engine(2);
  size_t refused = 0;
  for (int round = 0; round < 500; ++round) {
    std::vector<std::byte> damaged = file;
    if (round % 2 == 0) damaged.resize(engine() % file.size());
    for (int k = 0; k < 3 && !damaged.empty(); ++k) damaged[engine() % damaged.size()] = std::byte(engine());
    try {
      decode_jpeg(damaged,
                  [&](const JpegInfo& info) {
                    require(info.width == 64 && info.height == 48, "another size");
                    return to.view();
                  },
                  {});
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Code::kNnInvalidParam);
      ++refused;
    }
  }
  EXPECT_GT(refused, 250U);
  EXPECT_THROW(jpeg_info({}), Error);
  EXPECT_THROW(jpeg_info(std::as_bytes(std::span("no picture"))), Error);
}

/// 3 x 2 pixels of R, G, B; written by hand, its bytes stored as they are.
std::vector<std::byte> small_png() {
  static const unsigned char kFile[] = {0x89, 'P',  'N',  'G',  0x0d, 0x0a, 0x1a, 0x0a, 0,    0,   0,   0x0d, 'I', 'H',
                                        'D',  'R',  0,    0,    0,    3,    0,    0,    0,    2,   8,   2,    0,   0,
                                        0,    0x12, 0x16, 0xf1, 0x4d, 0,    0,    0,    0x1f, 'I', 'D', 'A',  'T', 0x78,
                                        0x01, 0x01, 0x14, 0,    0xeb, 0xff, 0,    1,    2,    3,   4,   5,    6,   7,
                                        8,    9,    0,    10,   11,   12,   13,   14,   15,   250, 251, 252};
  std::vector<std::byte> out(sizeof(kFile));
  std::memcpy(out.data(), kFile, sizeof(kFile));
  return out;
}

uint32_t crc_of(const std::byte* bytes, size_t count) {
  uint32_t crc = ~0u;
  for (size_t i = 0; i < count; ++i) {
    crc ^= static_cast<uint8_t>(bytes[i]);
    for (int k = 0; k < 8; ++k) crc = (crc >> 1) ^ (crc & 1 ? 0xedb88320u : 0);
  }
  return ~crc;
}

void put(std::vector<std::byte>& file, uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) file.push_back(std::byte(value >> shift));
}

/// The file above with its sums: that of the data, and one for each part.
std::vector<std::byte> png() {
  std::vector<std::byte> file = small_png();
  uint32_t a = 1, b = 0;
  for (size_t i = file.size() - 20; i < file.size(); ++i)
    a = (a + static_cast<uint8_t>(file[i])) % 65521, b = (b + a) % 65521;
  put(file, b << 16 | a);
  const uint32_t head = crc_of(file.data() + 12, 17);
  for (int i = 0; i < 4; ++i) file[29 + static_cast<size_t>(i)] = std::byte(head >> (24 - 8 * i));
  put(file, crc_of(file.data() + 37, file.size() - 37));
  put(file, 0);
  const size_t end = file.size();
  for (const char c : {'I', 'E', 'N', 'D'}) file.push_back(std::byte(c));
  put(file, crc_of(file.data() + end, 4));
  return file;
}

TEST(Png, IsReadExactly) {
  const std::vector<std::byte> file = png();
  const PngInfo info = png_info(file);
  EXPECT_EQ(info.width, 3);
  EXPECT_EQ(info.height, 2);
  EXPECT_EQ(info.channels, 3);
  const Smooth rgb(PixelFormat::kRgb, 3, 2), argb(PixelFormat::kArgb, 3, 2);
  decode_png(file, [&](const PngInfo&) { return rgb.view(); });
  EXPECT_EQ(rgb.bytes, (std::vector<uint8_t>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 250, 251, 252}));
  decode_png(file, [&](const PngInfo&) { return argb.view(); });
  EXPECT_EQ(argb.bytes[0], 255);
  EXPECT_EQ(argb.bytes[23], 252);
}

TEST(Png, RefusesDamage) {
  const std::vector<std::byte> file = png();
  const Smooth rgb(PixelFormat::kRgb, 3, 2);
  const auto target = [&](const PngInfo& info) {
    require(info.width == 3 && info.height == 2, "another size");
    return rgb.view();
  };
  for (size_t bytes = 0; bytes + 16 < file.size(); ++bytes)
    EXPECT_THROW(decode_png(std::span(file).first(bytes), target), Error) << bytes;
  std::mt19937 engine(2);
  for (int round = 0; round < 500; ++round) {
    std::vector<std::byte> damaged = file;
    for (int k = 0; k < 2; ++k) damaged[engine() % damaged.size()] = std::byte(engine());
    try {
      decode_png(damaged, target);
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Code::kNnInvalidParam);
    }
  }
}

}  // namespace
}  // namespace npu::ops
