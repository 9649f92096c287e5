// SPDX-License-Identifier: Apache-2.0
// Where the elements of a tensor lie that is seen in another format than it was written in. Nothing is moved: each axis
// knows how far its indices are away from its first one, also where the index runs through tiles and padding.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "graph/dump/record/dump_data.h"

namespace npu::compare {

using graph::record::Shape;

/// Elements of a shape; nothing where no memory holds as many.
std::optional<uint64_t> elements(const Shape& shape);

class Layout {
 public:
  /// Offsets in elements, of each index of one axis.
  using Axis = std::vector<uint64_t>;
  explicit Layout(std::vector<Axis> axes);
  /// Where two axes lie together: `offsets[i * columns + j]` for index i of axis `row` and j of axis `column`, a later
  /// one. Their own offsets are zeros.
  struct Joint {
    size_t row, column;
    uint64_t columns;
    Axis offsets;
  };
  Layout(std::vector<Axis> axes, Joint joint);
  /// One element after another, without the axes of one index at the end.
  static Layout rows(Shape shape);

  Shape shape() const;
  /// Leaves the first `shape[i]` indices of each axis that has more.
  void crop(const Shape& shape);
  /// Calls `take(offsets, base, count)` for runs along the last axis that cover elements [first, first + count).
  template <class Take>
  void walk(uint64_t first, uint64_t count, Take&& take) const {
    if (count == 0) return;
    const Axis& last = axes_.back();
    Place place = place_of(first / last.size());
    for (uint64_t column = first % last.size(); count > 0; column = 0, advance(place)) {
      const uint64_t run = std::min<uint64_t>(count, last.size() - column);
      take(last_offsets(place) + column, base(place), run);
      count -= run;
    }
  }

 private:
  static constexpr size_t kMostAxes = 32;
  /// An index on every axis but the last.
  using Place = std::array<uint64_t, kMostAxes>;
  Place place_of(uint64_t row) const;
  void advance(Place& place) const;
  uint64_t base(const Place& place) const;
  const uint64_t* last_offsets(const Place& place) const;
  std::vector<Axis> axes_;
  std::optional<Joint> joint_;
};

/// How `from` (written in format `source`) is seen in format `target`; `to` is the shape wanted, which some conversions
/// need and which may be empty for others. Raises 161002 with the reason for what cannot be.
/// `groups` is how many groups of channels a FRACTAL_Z holds, of a convolution in groups.
Layout convert_layout(int32_t source, int32_t target, const Shape& from, const Shape& to, uint64_t groups = 1);
/// Whether there is such a conversion.
bool can_convert(int32_t source, int32_t target);

}  // namespace npu::compare
