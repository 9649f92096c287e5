// SPDX-License-Identifier: Apache-2.0
// How long a chip would need for an operator, by its public numbers: a roofline.
#pragma once

#include <array>
#include <string>

#include "tools/profile/report/model/figure.h"
#include "tools/profile/report/model/work.h"

namespace npu::profile {

enum class Bound : uint8_t { kCube, kVector, kMemory, kLink, kLaunch };
inline constexpr size_t kBounds = 5;
/// "cube", "launch".
std::string_view words_of(Bound bound);

/// Microseconds.
struct Estimate {
  std::array<double, kBounds> parts{};
  std::string missing = {};  ///< the number it could not be made without; then there is no time

  double& operator[](Bound bound) { return parts.at(static_cast<size_t>(bound)); }
  /// What overlaps is as long as the longest of it; launching comes before.
  double time() const;
  /// The longest part.
  Bound bound() const;
};

Estimate estimate(const Chip& chip, const Work& work);

/// Operations a second that products of a type reach at most, with the share of it that published ones reach.
std::optional<double> cube_rate(const Chip& chip, std::string_view type);

}  // namespace npu::profile
