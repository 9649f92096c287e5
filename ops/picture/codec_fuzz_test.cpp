// SPDX-License-Identifier: Apache-2.0
// Damaged files of pictures: each is refused with an Error, or decoded. ANYNPU_FUZZ_SECONDS makes more rounds of them.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <random>
#include <vector>

#include "base/error.h"
#include "ops/picture/jpeg.h"
#include "ops/picture/png.h"

namespace npu::ops {
namespace {

using File = std::vector<std::byte>;

constexpr int64_t kWidth = 48, kHeight = 32;

/// Calls round(random) a few hundred times, or for as long as ANYNPU_FUZZ_SECONDS says.
template <class F>
void rounds(F&& round) {
  const char* seconds = std::getenv("ANYNPU_FUZZ_SECONDS");
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds == nullptr ? 0 : std::atoi(seconds));
  for (unsigned n = 0; n < 300 || std::chrono::steady_clock::now() < end; ++n) {
    std::mt19937 random(n);
    try {
      round(random);
    } catch (const Error& e) {
      ASSERT_EQ(e.code(), Code::kNnInvalidParam) << n;
    }
  }
}

File damaged(File file, std::mt19937& random) {
  for (unsigned k = 1 + random() % 8; k > 0; --k) file[random() % file.size()] = std::byte(random());
  if (random() % 4 == 0) file.resize(random() % file.size());
  return file;
}

struct Target {
  std::vector<uint8_t> bytes = std::vector<uint8_t>(kWidth * kHeight * 4);
  PictureView view(PixelFormat format, int64_t width, int64_t height) {
    require(width == kWidth && height == kHeight, "another size");
    const int64_t row = width * pixel_bytes(format);
    return planes_of({format, width, height, row, height, bytes.data()});
  }
};

TEST(FuzzJpeg, DamagedFilesAreRefusedOrDecoded) {
  std::vector<uint8_t> pixels(kWidth * kHeight * 3);
  std::mt19937 random(1);
  for (uint8_t& byte : pixels) byte = static_cast<uint8_t>(random());
  const File file =
      encode_jpeg(planes_of({PixelFormat::kRgb, kWidth, kHeight, kWidth * 3, kHeight, pixels.data()}), 80, {});
  Target target;
  rounds([&](std::mt19937& engine) {
    decode_jpeg(damaged(file, engine),
                [&](const JpegInfo& info) { return target.view(PixelFormat::kYuv420sp, info.width, info.height); }, {});
  });
}

TEST(FuzzPng, DamagedFilesAreRefusedOrDecoded) {
  Target target;
  rounds([&](std::mt19937& engine) {
    // A head, and noise behind it: sums of damaged parts are rarely right, so this is about lengths and ends.
    File file;
    static constexpr unsigned char kHead[] = {0x89, 'P', 'N', 'G', 13, 10, 26, 10, 0,  0, 0, 13, 'I', 'H', 'D',
                                              'R',  0,   0,   0,   48, 0,  0,  0,  32, 8, 2, 0,  0,   0};
    for (const unsigned char byte : kHead) file.push_back(std::byte(byte));
    for (size_t i = engine() % 200; i > 0; --i) file.push_back(std::byte(engine()));
    decode_png(damaged(file, engine),
               [&](const PngInfo& info) { return target.view(PixelFormat::kRgb, info.width, info.height); });
  });
}

}  // namespace
}  // namespace npu::ops
