// SPDX-License-Identifier: Apache-2.0
#include "tools/compare/tensor/tensor.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "graph/dump/record/format.h"
#include "tools/compare/exit/refusal.h"
#include "tools/compare/tensor/npy.h"

namespace npu::compare {
namespace {

namespace record = graph::record;

/// Elements 0, 1, 2 … in NCHW, as another format holds them; what is padding is -1.
struct Tiles {
  Shape shape;
  std::vector<float> elements;
};

uint64_t product(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), uint64_t{1}, std::multiplies());
}

constexpr uint64_t kN = 3, kC = 19, kH = 2, kW = 5, kTile = 16;

/// `place(n, c, h, w)` is where an element of NCHW stands.
template <class Place>
Tiles tiles(const Shape& shape, Place&& place) {
  Tiles found{shape, std::vector<float>(product(shape), -1.0f)};
  float value = 0;
  for (uint64_t n = 0; n < kN; ++n)
    for (uint64_t c = 0; c < kC; ++c)
      for (uint64_t h = 0; h < kH; ++h)
        for (uint64_t w = 0; w < kW; ++w) found.elements[place(n, c, h, w)] = value++;
  return found;
}

Tensor tensor_of(const Tiles& tiles, int32_t format, const Shape& original) {
  Tensor found;
  found.facts.data_type = 1, found.facts.format = format;
  found.facts.shape = tiles.shape, found.facts.original_shape = original;
  found.bytes = std::as_bytes(std::span(tiles.elements));
  return found;
}

std::vector<float> read(const View& view) {
  std::vector<float> found(view.count);
  view.read(0, view.count, found.data());
  return found;
}

void expect_in_order(const View& view, uint64_t count) {
  std::vector<float> wanted(count);
  std::iota(wanted.begin(), wanted.end(), 0.0f);
  EXPECT_EQ(read(view), wanted);
  std::vector<float> part(7);
  view.read(11, 7, part.data());
  EXPECT_EQ(part, std::vector<float>(wanted.begin() + 11, wanted.begin() + 18));
}

TEST(Tensor, IsRestoredFromEveryFormat) {
  const Shape original{kN, kC, kH, kW};
  const uint64_t c1 = 2, n1 = 1;
  expect_in_order(restored_view(tensor_of(tiles({kN, c1, kH, kW, kTile},
                                                [&](auto n, auto c, auto h, auto w) {
                                                  return (((n * c1 + c / kTile) * kH + h) * kW + w) * kTile + c % kTile;
                                                }),
                                          record::kNc1hwc0, original)),
                  product(original));
  expect_in_order(restored_view(tensor_of(tiles({c1 * kH * kW, n1, kTile, kTile},
                                                [&](auto n, auto c, auto h, auto w) {
                                                  return (((c / kTile * kH + h) * kW + w) * n1 * kTile + n) * kTile +
                                                         c % kTile;
                                                }),
                                          record::kFractalZ, original)),
                  product(original));
  expect_in_order(
      restored_view(tensor_of(
          tiles({kN, kH, kW, kC}, [&](auto n, auto c, auto h, auto w) { return ((n * kH + h) * kW + w) * kC + c; }),
          record::kNhwc, original)),
      product(original));
  expect_in_order(
      restored_view(tensor_of(
          tiles({kH, kW, kC, kN}, [&](auto n, auto c, auto h, auto w) { return ((h * kW + w) * kC + c) * kN + n; }),
          record::kHwcn, original)),
      product(original));
}

TEST(Tensor, AMatrixInTilesIsRestored) {
  const Shape original{3, 18, 35};
  Tiles held{{3, 3, 2, kTile, kTile}, std::vector<float>(3 * 3 * 2 * 256, -1.0f)};
  float value = 0;
  for (uint64_t b = 0; b < 3; ++b)
    for (uint64_t r = 0; r < 18; ++r)
      for (uint64_t c = 0; c < 35; ++c)
        held.elements[(((b * 3 + c / kTile) * 2 + r / kTile) * kTile + r % kTile) * kTile + c % kTile] = value++;
  expect_in_order(restored_view(tensor_of(held, record::kFractalNz, original)), product(original));
}

TEST(Tensor, ShapesThatDoNotFitAreRefused) {
  Tiles held{{2, 3}, std::vector<float>(6)};
  Tensor tensor = tensor_of(held, record::kNd, {});
  tensor.facts.shape = {2, 4};
  EXPECT_THROW(plain_view(tensor), Refusal);
  tensor.facts.shape = {uint64_t{1} << 40, uint64_t{1} << 40};
  EXPECT_THROW(plain_view(tensor), Refusal);
  tensor.facts.shape = {2, 3}, tensor.facts.data_type = 13;
  EXPECT_THROW(plain_view(tensor), Refusal);
}

TEST(Npy, ComesBack) {
  const std::vector<float> values{1, 2, 3, 4, 5, 6};
  for (const Shape& shape : {Shape{2, 3}, Shape{6}, Shape{1, 6, 1}}) {
    std::string file = npy_header("<f4", shape);
    EXPECT_EQ(file.size() % 64, 0u);
    file.append(reinterpret_cast<const char*>(values.data()), values.size() * 4);
    const Tensor found = parse_npy(std::as_bytes(std::span(file)), "x.npy");
    EXPECT_EQ(found.facts.shape, shape);
    EXPECT_EQ(read(plain_view(found)), values);
  }
}

TEST(Npy, AnyBytesGiveAnArrayOrARefusal) {
  std::string file = npy_header("<f4", {2, 3});
  file.append(24, '\1');
  for (size_t size = 0; size < file.size(); ++size) {
    const std::string part = file.substr(0, size);
    EXPECT_THROW(parse_npy(std::as_bytes(std::span(part)), "x.npy"), Refusal);
  }
  std::mt19937 random(3);
  for (int i = 0; i < 20000; ++i) {
    std::string damaged = file;
    damaged[random() % 100] = static_cast<char>(random());
    try {
      read(plain_view(parse_npy(std::as_bytes(std::span(damaged)), "x.npy")));
    } catch (const Refusal&) {
    }
  }
}

TEST(Tensor, AnyFactsGiveAViewOrARefusal) {
  const std::vector<float> held(1024);
  std::mt19937 random(5);
  const auto shape = [&] {
    Shape found(random() % 7);
    for (uint64_t& size : found) size = random() % 9 == 0 ? random() : random() % 20;
    return found;
  };
  for (int i = 0; i < 50000; ++i) {
    Tensor mine, golden;
    mine.facts = {static_cast<int32_t>(random() % 44),
                  static_cast<int32_t>(random() % 50),
                  static_cast<int32_t>(random() % 3),
                  shape(),
                  shape(),
                  {},
                  4096,
                  0};
    golden.facts = {1, record::kReserved, 0, shape(), {}, {}, 4096, 0};
    mine.bytes = golden.bytes = std::as_bytes(std::span(held));
    try {
      read(restored_view(mine));
      const Match found = match(mine, golden, i % 2 ? "NCHW" : "", shape());
      read(found.mine), read(found.golden);
    } catch (const Refusal&) {
    }
  }
}

/// As the published formula writes them: groups whose channels fill a tile together stand on the diagonal of its
/// blocks.
TEST(Groups, AFractalZOfAGroupedConvolution) {
  constexpr uint64_t kGroups = 4, kOutputs = 8, kChannels = 3, kSide = 2;  // 8 / 4 = 2 outputs a group
  const Shape original{kOutputs, kChannels, kSide, kSide};
  const uint64_t together = 4;  // min(max(48 / 3, 16 / 2), 4)
  std::vector<float> stored(1 * kSide * kSide * 256, -1), expected(kOutputs * kChannels * kSide * kSide);
  for (uint64_t n = 0; n < kOutputs; ++n)
    for (uint64_t c = 0; c < kChannels; ++c)
      for (uint64_t at = 0; at < kSide * kSide; ++at) {
        const uint64_t part = n / 2 % together;
        const auto value = static_cast<float>((n * kChannels + c) * kSide * kSide + at);
        stored[at * 256 + (part * 2 + n % 2) * 16 + part * kChannels + c] = value;
        expected[static_cast<size_t>(value)] = value;
      }
  Tensor tensor;
  tensor.facts.data_type = 1, tensor.facts.format = record::kFractalZ, tensor.facts.sub_format = kGroups;
  tensor.facts.shape = {kSide * kSide, 1, 16, 16};
  tensor.bytes = std::as_bytes(std::span(stored));
  const auto seen = [&](int32_t format, const Shape& shape) {
    const View view = converted_view(tensor, record::kFractalZ, format, shape);
    EXPECT_EQ(view.shape, shape);
    std::vector<float> found(view.count);
    view.read(0, view.count, found.data());
    return found;
  };
  EXPECT_EQ(seen(record::kNchw, original), expected);
  const auto last = seen(record::kNhwc, {kOutputs, kSide, kSide, kChannels});
  EXPECT_EQ(last[(5 * 4 + 3) * kChannels + 2], expected[(5 * kChannels + 2) * 4 + 3]);
  const auto hwcn = seen(record::kHwcn, {kSide, kSide, kChannels, kOutputs});
  EXPECT_EQ(hwcn[(3 * kChannels + 2) * kOutputs + 5], expected[(5 * kChannels + 2) * 4 + 3]);
  tensor.facts.sub_format = 3;
  EXPECT_THROW(seen(record::kNchw, original), Refusal);
}

}  // namespace
}  // namespace npu::compare
