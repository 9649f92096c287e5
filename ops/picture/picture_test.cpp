// SPDX-License-Identifier: Apache-2.0
// Pictures against what is written down once more for one pixel at a time, in double.
#include "ops/picture/picture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "ops/picture/histogram.h"
#include "ops/picture/transform.h"

namespace npu::ops {
namespace {

struct Own {
  std::vector<uint8_t> bytes;
  Picture picture;
  Own(PixelFormat format, int64_t width, int64_t height, unsigned seed, int64_t gap = 5) {
    const int64_t row = width * pixel_bytes(format) + gap * 2, rows = height + 4;
    bytes.resize(static_cast<size_t>(bytes_of(format, row, rows)));
    std::mt19937 engine(seed);
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(engine());
    picture = {format, width, height, row, rows, bytes.data()};
  }
  PictureView view() const { return planes_of(picture); }
};

constexpr PixelFormat kAll[] = {
    PixelFormat::kYuv400,   PixelFormat::kYuv420sp, PixelFormat::kYvu420sp, PixelFormat::kYuv422sp,
    PixelFormat::kYvu422sp, PixelFormat::kYuv444sp, PixelFormat::kYvu444sp, PixelFormat::kYuyv422,
    PixelFormat::kUyvy422,  PixelFormat::kYvyu422,  PixelFormat::kVyuy422,  PixelFormat::kYuv444,
    PixelFormat::kRgb,      PixelFormat::kBgr,      PixelFormat::kArgb,     PixelFormat::kAbgr,
    PixelFormat::kRgba,     PixelFormat::kBgra,     PixelFormat::kYuv440sp, PixelFormat::kYvu440sp};

/// The picture's pixels as planes of full size.
std::vector<uint8_t> channel(const PictureView& view, size_t c) {
  const int64_t width = view.planes[0].width, height = view.planes[0].height;
  const bool shared = c > 0 && view.model == ColourModel::kYuv;
  std::vector<uint8_t> out;
  for (int64_t y = 0; y < height; ++y)
    for (int64_t x = 0; x < width; ++x)
      out.push_back(*view.planes[c].at(shared ? x >> view.shift_x : x, shared ? y >> view.shift_y : y));
  return out;
}

TEST(Picture, PlanesCoverEveryByteOnce) {
  for (const PixelFormat format : kAll) {
    Own own(format, 8, 4, 1, 0);
    own.picture.rows = 4;
    own.bytes.assign(static_cast<size_t>(bytes_of(format, own.picture.row, 4)), 0);
    own.picture.data = own.bytes.data();
    const PictureView view = own.view();
    for (int c = 0; c < view.channels; ++c) {
      const Plane& plane = view.planes[static_cast<size_t>(c)];
      for (int64_t y = 0; y < plane.height; ++y)
        for (int64_t x = 0; x < plane.width; ++x) ++*plane.at(x, y);
    }
    EXPECT_TRUE(std::all_of(own.bytes.begin(), own.bytes.end(), [](uint8_t b) { return b == 1; })) << to_string(format);
  }
  EXPECT_FALSE(is_built(static_cast<PixelFormat>(18)));
}

TEST(Picture, ChangesTheOrderOfChannelsExactly) {
  const Own rgb(PixelFormat::kRgb, 6, 4, 1), bgra(PixelFormat::kBgra, 6, 4, 2);
  transform(rgb.view(), bgra.view(), {});
  for (size_t c = 0; c < 3; ++c) EXPECT_EQ(channel(bgra.view(), c), channel(rgb.view(), c));
  EXPECT_EQ(channel(bgra.view(), 3), std::vector<uint8_t>(24, 255));
  EXPECT_EQ(*bgra.view().planes[0].at(0, 0), bgra.bytes[2]);
  const Own nv12(PixelFormat::kYuv420sp, 6, 4, 3), nv21(PixelFormat::kYvu420sp, 6, 4, 4);
  transform(nv12.view(), nv21.view(), {});
  for (size_t c = 0; c < 3; ++c) EXPECT_EQ(channel(nv21.view(), c), channel(nv12.view(), c));
}

double linear(const Plane& from, int64_t width, int64_t height, int64_t x, int64_t y) {
  const auto at = [](int64_t i, int64_t in, int64_t out) {
    return std::clamp((static_cast<double>(i) + 0.5) * static_cast<double>(in) / static_cast<double>(out) - 0.5, 0.0,
                      static_cast<double>(in - 1));
  };
  const double px = at(x, from.width, width), py = at(y, from.height, height);
  const auto x0 = static_cast<int64_t>(px), y0 = static_cast<int64_t>(py);
  const int64_t x1 = std::min(x0 + 1, from.width - 1), y1 = std::min(y0 + 1, from.height - 1);
  const double fx = px - static_cast<double>(x0), fy = py - static_cast<double>(y0);
  return (*from.at(x0, y0) * (1 - fx) + *from.at(x1, y0) * fx) * (1 - fy) +
         (*from.at(x0, y1) * (1 - fx) + *from.at(x1, y1) * fx) * fy;
}

TEST(Picture, ResizesEachChannel) {
  for (const PixelFormat format : {PixelFormat::kYuv420sp, PixelFormat::kRgb, PixelFormat::kYuyv422}) {
    for (const auto& [width, height] : {std::pair{38, 10}, {6, 22}, {2, 2}, {16, 12}}) {
      const Own from(format, 16, 12, 1), to(format, width, height, 2);
      transform(from.view(), to.view(), {});
      for (size_t c = 0; c < 3; ++c) {
        const Plane in = from.view().planes[c], out = to.view().planes[c];
        for (int64_t y = 0; y < out.height; ++y)
          for (int64_t x = 0; x < out.width; ++x)
            ASSERT_NEAR(*out.at(x, y), linear(in, out.width, out.height, x, y), 0.75);
      }
    }
  }
}

TEST(Picture, TakesTheNearestWhereAsked) {
  const Own from(PixelFormat::kYuv400, 4, 4, 1), to(PixelFormat::kYuv400, 8, 2, 2);
  transform(from.view(), to.view(), {.interpolation = Interpolation::kNearest});
  for (int64_t y = 0; y < 2; ++y)
    for (int64_t x = 0; x < 8; ++x) EXPECT_EQ(*to.view().planes[0].at(x, y), *from.view().planes[0].at(x / 2, y * 2));
}

TEST(Picture, ConvertsColoursBothWays) {
  const double shares[3][2] = {{0.299, 0.114}, {0.2126, 0.0722}, {0.2627, 0.0593}};
  for (int standard = 0; standard < 6; ++standard) {
    const auto [red, blue] = shares[standard / 2];
    const bool wide = standard % 2 == 0;
    const double green = 1 - red - blue, y_range = wide ? 255 : 219, uv_range = wide ? 255 : 224;
    const TransformRule rule{.standard = static_cast<ColourStandard>(standard)};
    const Own rgb(PixelFormat::kRgb, 8, 6, 1), yuv(PixelFormat::kYuv444sp, 8, 6, 2), back(PixelFormat::kRgb, 8, 6, 3);
    transform(rgb.view(), yuv.view(), rule);
    transform(yuv.view(), back.view(), rule);
    for (size_t i = 0; i < 48; ++i) {
      const double r = channel(rgb.view(), 0)[i], g = channel(rgb.view(), 1)[i], b = channel(rgb.view(), 2)[i];
      const double luma = red * r + green * g + blue * b;
      EXPECT_NEAR(channel(yuv.view(), 0)[i], (wide ? 0 : 16) + luma * y_range / 255, 0.52);
      EXPECT_NEAR(channel(yuv.view(), 1)[i], std::min(255.0, 128 + (b - luma) / (2 * (1 - blue)) * uv_range / 255),
                  0.52);
      EXPECT_NEAR(channel(yuv.view(), 2)[i], std::min(255.0, 128 + (r - luma) / (2 * (1 - red)) * uv_range / 255),
                  0.52);
      EXPECT_NEAR(channel(back.view(), 1)[i], g, 3);
    }
  }
}

TEST(Picture, SharedColoursAreMeans) {
  const Own full(PixelFormat::kRgb, 4, 4, 1), yuv(PixelFormat::kYuv444sp, 4, 4, 2),
      small(PixelFormat::kYuv420sp, 4, 4, 3);
  transform(full.view(), yuv.view(), {});
  transform(full.view(), small.view(), {});
  EXPECT_EQ(channel(small.view(), 0), channel(yuv.view(), 0));
  const Plane u = yuv.view().planes[1], shared = small.view().planes[1];
  EXPECT_EQ(*shared.at(1, 1), (*u.at(2, 2) + *u.at(3, 2) + *u.at(2, 3) + *u.at(3, 3) + 2) / 4);
}

TEST(Picture, GrayHasNoColours) {
  const Own gray(PixelFormat::kYuv400, 4, 4, 1), yuv(PixelFormat::kYuv420sp, 4, 4, 2), rgb(PixelFormat::kRgb, 4, 4, 3);
  transform(gray.view(), yuv.view(), {});
  EXPECT_EQ(channel(yuv.view(), 1), std::vector<uint8_t>(16, 128));
  transform(gray.view(), rgb.view(), {});
  EXPECT_EQ(channel(rgb.view(), 2), channel(gray.view(), 0));
  const Own again(PixelFormat::kYuv400, 4, 4, 5);
  transform(yuv.view(), again.view(), {});
  EXPECT_EQ(channel(again.view(), 0), channel(gray.view(), 0));
}

TEST(Picture, APartIsTakenFromEveryPlane) {
  const Own from(PixelFormat::kYuv420sp, 16, 12, 1), to(PixelFormat::kYuv420sp, 6, 4, 2);
  transform(from.view().part(4, 2, 6, 4), to.view(), {});
  EXPECT_EQ(*to.view().planes[0].at(5, 3), *from.view().planes[0].at(9, 5));
  EXPECT_EQ(*to.view().planes[2].at(2, 1), *from.view().planes[2].at(4, 2));
}

TEST(Picture, BordersMirrorAndRepeat) {
  const Own from(PixelFormat::kYuv400, 4, 1, 1);
  const Plane in = from.view().planes[0];
  const auto bordered = [&](Border kind) {
    const Own to(PixelFormat::kYuv400, 12, 1, 2);
    add_border(from.view(), to.view(), {.kind = kind, .left = 4, .values = {9}});
    return channel(to.view(), 0);
  };
  const uint8_t a = *in.at(0, 0), b = *in.at(1, 0), c = *in.at(2, 0), d = *in.at(3, 0);
  EXPECT_EQ(bordered(Border::kConstant), (std::vector<uint8_t>{9, 9, 9, 9, a, b, c, d, 9, 9, 9, 9}));
  EXPECT_EQ(bordered(Border::kReplicate), (std::vector<uint8_t>{a, a, a, a, a, b, c, d, d, d, d, d}));
  EXPECT_EQ(bordered(Border::kReflect), (std::vector<uint8_t>{d, c, b, a, a, b, c, d, d, c, b, a}));
  EXPECT_EQ(bordered(Border::kReflect101), (std::vector<uint8_t>{c, d, c, b, a, b, c, d, c, b, a, b}));
}

TEST(Picture, HalvesWithSmoothing) {
  const Own from(PixelFormat::kYuv400, 12, 8, 1), to(PixelFormat::kYuv400, 6, 4, 2);
  halve(from.view(), to.view());
  const int weights[5] = {1, 4, 6, 4, 1};
  const auto at = [](int64_t i, int64_t size) { return i < 0 ? -i : i >= size ? 2 * size - 2 - i : i; };
  const Plane in = from.view().planes[0], out = to.view().planes[0];
  for (int64_t y = 0; y < 4; ++y)
    for (int64_t x = 0; x < 6; ++x) {
      double sum = 0;
      for (int j = 0; j < 5; ++j)
        for (int i = 0; i < 5; ++i)
          sum += weights[i] * weights[j] * *in.at(at(2 * x + i - 2, 12), at(2 * y + j - 2, 8)) / 256.0;
      EXPECT_NEAR(*out.at(x, y), sum, 0.51);
    }
}

}  // namespace
}  // namespace npu::ops
