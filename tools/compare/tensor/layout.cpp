// SPDX-License-Identifier: Apache-2.0
#include "tools/compare/tensor/layout.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "graph/dump/record/format.h"

namespace npu::compare {
namespace {

namespace record = graph::record;
using Axis = Layout::Axis;

Axis axis(uint64_t size, uint64_t step) {
  Axis offsets(size);
  for (uint64_t i = 0; i < size; ++i) offsets[i] = i * step;
  return offsets;
}

/// An axis in tiles: `tiles` of `size` elements each.
Axis tiled(uint64_t tiles, uint64_t tile_step, uint64_t size, uint64_t step) {
  Axis offsets;
  offsets.reserve(tiles * size);
  for (uint64_t t = 0; t < tiles; ++t)
    for (uint64_t i = 0; i < size; ++i) offsets.push_back(t * tile_step + i * step);
  return offsets;
}

Shape steps_of(const Shape& shape) {
  Shape steps(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) steps[i - 1] = steps[i] * shape[i];
  return steps;
}

void want(bool condition, std::string_view format, const Shape& shape) {
  require(condition, "the format {} does not fit the shape [{}]", format, fmt::join(shape, ","));
}

/// The axes of a shape by the letters of its format, put in the order of another one's.
Layout reordered(const std::vector<std::pair<char, Axis>>& axes, std::string_view order) {
  std::vector<Axis> found;
  for (const char letter : order)
    found.push_back(std::ranges::find(axes, letter, &std::pair<char, Axis>::first)->second);
  return Layout(std::move(found));
}

Layout plain(std::string_view from, std::string_view to, const Shape& shape) {
  want(shape.size() == from.size(), from, shape);
  const Shape steps = steps_of(shape);
  std::vector<std::pair<char, Axis>> axes;
  for (size_t i = 0; i < from.size(); ++i) axes.emplace_back(from[i], axis(shape[i], steps[i]));
  return reordered(axes, to);
}

Layout from_nc1hwc0(const Shape& s, std::string_view to) {
  want(s.size() == 5, "NC1HWC0", s);
  const Shape t = steps_of(s);
  return reordered(
      {{'N', axis(s[0], t[0])}, {'C', tiled(s[1], t[1], s[4], t[4])}, {'H', axis(s[2], t[2])}, {'W', axis(s[3], t[3])}},
      to);
}

Layout from_ndc1hwc0(const Shape& s, const Shape& to) {
  want(s.size() == 6, "NDC1HWC0", s);
  const Shape t = steps_of(s);
  Layout found = reordered({{'N', axis(s[0], t[0])},
                            {'C', tiled(s[2], t[2], s[5], t[5])},
                            {'D', axis(s[1], t[1])},
                            {'H', axis(s[3], t[3])},
                            {'W', axis(s[4], t[4])}},
                           "NCDHW");
  if (to.size() == 5) found.crop({s[0], to[1], s[1], s[3], s[4]});
  return found;
}

/// C1 * H * W tiles in rows of N1 blocks of N0 x C0. How many rows belong to one C1 is what the wanted shape says.
Layout from_fractal_z(const Shape& s, const Shape& to, std::string_view order) {
  want(s.size() == 4, "FRACTAL_Z", s);
  want(to.size() == 4, order, to);
  const uint64_t height = to[order.find('H')], width = to[order.find('W')], rows = height * width;
  require(height > 0 && height <= s[0] && width > 0 && width <= s[0] && s[0] % rows == 0,
          "FRACTAL_Z of [{}] holds no kernel of {} x {}", fmt::join(s, ","), height, width);
  const Shape t = steps_of(s);
  Layout found = reordered({{'N', tiled(s[1], t[1], s[2], t[2])},
                            {'C', tiled(s[0] / rows, rows * t[0], s[3], t[3])},
                            {'H', axis(height, width * t[0])},
                            {'W', axis(width, t[0])}},
                           order);
  found.crop(to);
  return found;
}

/// Of a convolution in groups: as many groups stand side by side, on the diagonal of one block of tiles, as fill whole
/// tiles of channels; these blocks follow each other. An element's place then depends on its N and C together.
Layout from_grouped_fractal_z(const Shape& s, const Shape& to, std::string_view order, uint64_t groups) {
  want(s.size() == 4, "FRACTAL_Z", s);
  want(to.size() == 4, order, to);
  const auto size = [&](char letter) { return to[order.find(letter)]; };
  const uint64_t n = size('N'), c = size('C'), height = size('H'), width = size('W'), tile = s[3];
  require(groups > 0 && n > 0 && c > 0 && tile > 0 && s[2] > 0 && n % groups == 0 && n <= 1u << 24 && c <= 1u << 24,
          "FRACTAL_Z of [{}]: {} outputs do not fall into {} groups", fmt::join(s, ","), n, groups);
  const uint64_t outputs = n / groups;
  const uint64_t together = std::min(std::max(std::lcm(c, tile) / c, std::lcm(outputs, s[2]) / outputs), groups);
  const auto tiles = [](uint64_t all, uint64_t one) { return (all + one - 1) / one; };
  const uint64_t c1 = tiles(together * c, tile), rows = tiles(groups, together) * c1;
  require(height > 0 && height <= s[0] && width > 0 && width <= s[0] && rows <= s[0] && rows * height * width == s[0] &&
              tiles(together * outputs, s[2]) <= s[1],
          "FRACTAL_Z of [{}] does not hold {} groups of [{}] ({})", fmt::join(s, ","), groups, fmt::join(to, ","),
          order);
  const Shape t = steps_of(s);
  const auto place = [&](uint64_t output, uint64_t channel) {
    const uint64_t group = output / outputs, part = group % together;
    const uint64_t column = part * c + channel, row = part * outputs + output % outputs;
    return (group / together * c1 + column / tile) * height * width * t[0] + row / s[2] * t[1] + row % s[2] * t[2] +
           column % tile;
  };
  const bool outputs_first = order.find('N') < order.find('C');
  Layout::Joint joint{std::min(order.find('N'), order.find('C')),
                      std::max(order.find('N'), order.find('C')),
                      outputs_first ? c : n,
                      {}};
  require(n * c <= s[0] * t[0], "FRACTAL_Z of [{}] is too small for {} x {}", fmt::join(s, ","), n, c);
  for (uint64_t i = 0; i < (outputs_first ? n : c); ++i)
    for (uint64_t j = 0; j < joint.columns; ++j) joint.offsets.push_back(outputs_first ? place(i, j) : place(j, i));
  std::vector<Axis> axes;
  for (const char letter : order)
    axes.push_back(axis(size(letter), letter == 'H' ? width * t[0] : letter == 'W' ? t[0] : 0));
  return Layout(std::move(axes), std::move(joint));
}

/// The shape must be what the tiles hold, but for less than a tile at the end of rows and columns.
void check_fractal_nz(const Shape& s, const Shape& to) {
  Shape whole(s.begin(), s.end() - 4);
  whole.push_back(s[s.size() - 2] * s[s.size() - 3]), whole.push_back(s[s.size() - 1] * s[s.size() - 4]);
  const auto fits = [](uint64_t wanted, uint64_t held) { return wanted <= held && wanted + 16 > held; };
  const size_t n = whole.size();
  const bool good = to.size() == n && fits(to[n - 1], whole[n - 1]) && fits(to[n - 2], whole[n - 2]) &&
                    std::equal(to.begin(), to.end() - 2, whole.begin());
  require(good, "The target shape ({}) is invalid. The recommended shape is ({}).", fmt::join(to, ", "),
          fmt::join(whole, ", "));
}

/// Columns in C1 tiles, rows in N1 tiles of N0; whatever stands in front of these four is one axis.
Layout from_fractal_nz(const Shape& s, const Shape& to) {
  want(s.size() >= 4, "FRACTAL_NZ", s);
  require(!to.empty(), "what was a FRACTAL_NZ of [{}] needs the shape that it had before", fmt::join(s, ","));
  check_fractal_nz(s, to);
  const Shape t = steps_of(s);
  const size_t c1 = s.size() - 4, n1 = c1 + 1, n0 = c1 + 2, c0 = c1 + 3;
  uint64_t outer = 1;
  for (size_t i = 0; i < c1; ++i) outer *= s[i];
  Axis rows = tiled(s[n1], t[n1], s[n0], t[n0]), columns = tiled(s[c1], t[c1], s[c0], t[c0]);
  const uint64_t height = to.size() >= 2 ? to[to.size() - 2] : 1;
  std::vector<Axis> axes;
  Shape cropped{height, to.back()};
  if (to.size() > 2) axes.push_back(axis(outer, s[c1] * t[c1])), cropped.insert(cropped.begin(), outer);
  axes.push_back(std::move(rows)), axes.push_back(std::move(columns));
  Layout found(std::move(axes));
  found.crop(cropped);
  return found;
}

using Make = std::function<Layout(const Shape& from, const Shape& to)>;

const std::map<std::pair<int32_t, int32_t>, Make>& conversions() {
  static const auto permute = [](std::string_view from, std::string_view to) {
    return [=](const Shape& shape, const Shape&) { return plain(from, to, shape); };
  };
  static const auto tiles = [](std::string_view order) {
    return [=](const Shape& shape, const Shape&) { return from_nc1hwc0(shape, order); };
  };
  static const auto fractal = [](std::string_view order) {
    return [=](const Shape& shape, const Shape& to) { return from_fractal_z(shape, to, order); };
  };
  using enum record::Format;
  static const std::map<std::pair<int32_t, int32_t>, Make> all = {
      {{kNchw, kNhwc}, permute("NCHW", "NHWC")},
      {{kNhwc, kNchw}, permute("NHWC", "NCHW")},
      {{kHwcn, kNchw}, permute("HWCN", "NCHW")},
      {{kHwcn, kNhwc}, permute("HWCN", "NHWC")},
      {{kNhwc, kHwcn}, permute("NHWC", "HWCN")},
      {{kNchw, kHwcn}, permute("NCHW", "HWCN")},
      {{kNdhwc, kNcdhw}, permute("NDHWC", "NCDHW")},
      {{kNcdhw, kNdhwc}, permute("NCDHW", "NDHWC")},
      {{kNc1hwc0, kNchw}, tiles("NCHW")},
      {{kNc1hwc0, kNhwc}, tiles("NHWC")},
      {{kNc1hwc0, kHwcn}, tiles("HWCN")},
      {{kFractalZ, kNchw}, fractal("NCHW")},
      {{kFractalZ, kHwcn}, fractal("HWCN")},
      {{kFractalZ, kNhwc}, fractal("NHWC")},
      {{kFractalNz, kNd}, from_fractal_nz},
      {{kFractalNz, kNchw}, from_fractal_nz},
      {{kFractalNz, kNhwc}, from_fractal_nz},
      {{kNdc1hwc0, kNcdhw}, from_ndc1hwc0},
      {{kNdc1hwc0, kNd}, from_ndc1hwc0},
  };
  return all;
}

}  // namespace

std::optional<uint64_t> elements(const Shape& shape) {
  uint64_t count = 1;
  if (std::ranges::find(shape, 0u) != shape.end()) return 0;
  for (const uint64_t size : shape)
    if (__builtin_mul_overflow(count, size, &count) || count > uint64_t{1} << 56) return std::nullopt;
  return count;
}

Shape Layout::shape() const {
  Shape sizes;
  for (const Axis& one : axes_) sizes.push_back(one.size());
  return sizes;
}

void Layout::crop(const Shape& shape) {
  for (size_t i = 0; i < std::min(shape.size(), axes_.size()); ++i)
    if (axes_[i].size() > shape[i]) axes_[i].resize(shape[i]);
}

Layout::Layout(std::vector<Axis> axes) : axes_(std::move(axes)) {
  require(!axes_.empty() && axes_.size() <= kMostAxes, "a tensor of {} axes; 1 to {} are known", axes_.size(),
          kMostAxes);
}

Layout::Layout(std::vector<Axis> axes, Joint joint) : Layout(std::move(axes)) { joint_ = std::move(joint); }

const uint64_t* Layout::last_offsets(const Place& place) const {
  const bool joined = joint_ && joint_->column + 1 == axes_.size();
  return joined ? joint_->offsets.data() + place[joint_->row] * joint_->columns : axes_.back().data();
}

Layout Layout::rows(Shape shape) {
  while (shape.size() > 1 && shape.back() == 1) shape.pop_back();
  if (shape.empty()) shape.push_back(1);
  const Shape steps = steps_of(shape);
  std::vector<Axis> axes;
  for (size_t i = 0; i < shape.size(); ++i) axes.push_back(axis(shape[i], steps[i]));
  return Layout(std::move(axes));
}

Layout::Place Layout::place_of(uint64_t row) const {
  Place place{};
  for (size_t i = axes_.size() - 1; i-- > 0; row /= axes_[i].size()) place[i] = row % axes_[i].size();
  return place;
}

void Layout::advance(Place& place) const {
  for (size_t i = axes_.size() - 1; i-- > 0; place[i] = 0)
    if (++place[i] < axes_[i].size()) return;
}

uint64_t Layout::base(const Place& place) const {
  uint64_t offset = 0;
  for (size_t i = 0; i + 1 < axes_.size(); ++i) offset += axes_[i][place[i]];
  if (joint_ && joint_->column + 1 < axes_.size())
    offset += joint_->offsets[place[joint_->row] * joint_->columns + place[joint_->column]];
  return offset;
}

bool can_convert(int32_t source, int32_t target) { return conversions().contains({source, target}); }

Layout convert_layout(int32_t source, int32_t target, const Shape& from, const Shape& to, uint64_t groups) {
  const auto found = conversions().find({source, target});
  require(found != conversions().end(), "there is no conversion from {} to {}", record::format_name(source),
          record::format_name(target));
  if (source == record::kFractalZ && groups > 1)
    return from_grouped_fractal_z(from, to, record::format_name(target), groups);
  return found->second(from, to);
}

}  // namespace npu::compare
