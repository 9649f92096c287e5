// SPDX-License-Identifier: Apache-2.0
// Into how many parts work is cut at most, and how much of it goes together: numbers of the code, unless tuning found
// others. They show in the bits where sums are cut, and never depend on the number of threads.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "ops/tuning/question.h"

namespace npu::ops::tuning {

inline constexpr std::array<int64_t, 4> kPartCounts{4, 8, 16, 32};
/// The ways of a Point about parts.
inline constexpr std::array<std::string_view, 4> kPartNames{"4", "8", "16", "32"};

/// `usual` is one of kPartCounts.
template <class MakeKey>
int64_t parts_for(const Point& point, int64_t usual, MakeKey&& make_key) {
  const Question question(point, std::forward<MakeKey>(make_key));
  const auto place = static_cast<size_t>(std::ranges::find(kPartCounts, usual) - kPartCounts.begin());
  const size_t way = question.answer().value_or(place);
  question.took(way);
  return kPartCounts[way];
}

inline constexpr std::array<int64_t, 6> kSizes{0, 256, 512, 1024, 2048, 4096};
/// The ways of a Point about how many elements go together.
inline constexpr std::array<std::string_view, 6> kSizeNames{"usual", "256", "512", "1024", "2048", "4096"};

/// `usual`, any number, unless tuning found one of kSizes.
template <class MakeKey>
int64_t size_for(const Point& point, int64_t usual, MakeKey&& make_key) {
  const Question question(point, std::forward<MakeKey>(make_key));
  const size_t way = question.answer().value_or(0);
  question.took(way);
  return way == 0 ? usual : kSizes[way];
}

}  // namespace npu::ops::tuning
