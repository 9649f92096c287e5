// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/report/model/chip_time.h"

#include <algorithm>
#include <utility>

namespace npu::profile {
namespace {

using device::trace::Unit;

constexpr double kTera = 1e12, kGiga = 1e9, kMega = 1e6, kMicroseconds = 1e6;
constexpr std::array kBoundWords = {"cube", "vector", "memory", "link", "launch"};
constexpr std::array kCubeRates = {std::pair{"FLOAT16", "cube_fp16"}, std::pair{"DT_BF16", "cube_bf16"},
                                   std::pair{"FLOAT", "cube_fp32"}, std::pair{"INT8", "cube_int8"}};

/// Fills an estimate part by part, and remembers the first number that is not there.
class Roofline {
 public:
  explicit Roofline(const Chip& chip) : chip_(chip) {}

  void multiply(const Work& work) {
    if (work.cube <= 0) return;
    const auto rate = cube_rate(chip_, work.cube_type);
    rate ? set(Bound::kCube, work.cube, *rate) : miss(without_rate(work.cube_type));
  }
  void count(const Work& work) {
    if (work.vector <= 0) return;
    // A rate that is stated counts a multiply-add as two.
    set(Bound::kVector, work.vector, number(work.vector_width <= 2 ? "vector_fp16" : "vector_fp32") * kTera / 2);
  }
  void move(const Work& work) {
    const auto l2 = chip_.value("l2"), size = chip_.value("l2_size");
    const bool fits = l2 && size && work.bytes <= *size * kMega;
    set(Bound::kMemory, work.bytes, fits ? *l2 * kGiga : number("memory") * kGiga * number("share_memory"));
  }
  void exchange(const Work& work) {
    if (!work.missing.empty()) return miss(work.missing);
    if (work.sent <= 0) return;
    const double pair = number("link_pair"), device = number("link_device"), share = number("share_link");
    if (work.ranks - 1 > number("link_peers")) miss("links between nodes, of more ranks than one node has");
    const double seconds = std::max(work.to_peer / pair, work.sent / device) / kGiga / share;
    made_[Bound::kLink] = seconds * kMicroseconds;
  }
  void launch(const char* quantity) { made_[Bound::kLaunch] = number(quantity); }

  Estimate made() && {
    if (!made_.missing.empty()) made_.parts = {};
    return std::move(made_);
  }

 private:
  std::string without_rate(const std::string& type) const {
    return type == "DT_BF16" && chip_.lacks("bfloat16") ? "bfloat16, which it does not have" : "cube rate of " + type;
  }
  void miss(std::string what) {
    if (made_.missing.empty()) made_.missing = std::move(what);
  }
  double number(std::string_view quantity) {
    const auto value = chip_.value(quantity);
    if (!value) miss(words_of(quantity));
    return value.value_or(1);
  }
  void set(Bound bound, double amount, double rate) { made_[bound] = amount / rate * kMicroseconds; }

  const Chip& chip_;
  Estimate made_;
};

}  // namespace

std::string_view words_of(Bound bound) { return kBoundWords.at(static_cast<size_t>(bound)); }

double Estimate::time() const {
  return *std::max_element(parts.begin(), parts.end() - 1) + parts[static_cast<size_t>(Bound::kLaunch)];
}

Bound Estimate::bound() const {
  // Of equal ones the last: what does nothing is launched only.
  size_t longest = 0;
  for (size_t i = 1; i < kBounds; ++i)
    if (parts.at(i) >= parts.at(longest)) longest = i;
  return static_cast<Bound>(longest);
}

std::optional<double> cube_rate(const Chip& chip, std::string_view type) {
  const auto* const named = std::ranges::find_if(kCubeRates, [&](const auto& one) { return type == one.first; });
  const auto peak = named == kCubeRates.end() ? std::nullopt : chip.value(named->second);
  const auto share = chip.value("share_cube");
  if (!peak || !share) return {};
  return *peak * *share * kTera;
}

Estimate estimate(const Chip& chip, const Work& work) {
  Roofline roofline(chip);
  if (work.unit == Unit::kCollective) {
    roofline.exchange(work);
    roofline.launch("launch_collective");
    return std::move(roofline).made();
  }
  roofline.multiply(work);
  roofline.count(work);
  roofline.move(work);
  roofline.launch(work.unit == Unit::kVector ? "launch_vector" : "launch_cube");
  return std::move(roofline).made();
}

}  // namespace npu::profile
