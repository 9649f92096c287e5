// SPDX-License-Identifier: Apache-2.0
// Public numbers of chips, as data: soc.tsv has each with its unit, its source, and why it and no other.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace npu::profile {

struct Figure {
  const char *soc, *quantity, *value, *unit;
  const char* kind;  ///< "stated", or "derived (how)"
  const char *source, *why;
};

std::span<const Figure> figures();

/// What is known of one SoC; what is not known has no value, and none is made up.
class Chip {
 public:
  explicit Chip(std::string_view name);
  const std::string& name() const { return name_; }
  std::optional<double> value(std::string_view quantity) const;
  /// Whether it is a SoC of the device that does not have this type ("bfloat16").
  bool lacks(std::string_view dtype) const;
  /// What no operator can be modelled without, in words; empty: nothing.
  std::vector<std::string> missing() const;
  std::vector<Figure> figures() const;

 private:
  std::string name_;
};

/// The SoCs that the device may be (ANYNPU_SOC), then others of which there are figures.
std::vector<std::string_view> chip_names();
/// "910B3" and "ascend910b3" are Ascend910B3; what is none of them stays as it is.
std::string full_name(std::string_view name);
/// A quantity for people: "vector rate of float16".
std::string words_of(std::string_view quantity);

}  // namespace npu::profile
