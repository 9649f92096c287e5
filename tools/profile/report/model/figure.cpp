// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/report/model/figure.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <sstream>
#include <utility>

namespace npu::profile {
namespace {

constexpr Figure kFigures[] = {
#include "soc.inc"
};

// The device's own table (device/process/soc_profile.tsv), of which the model reads two columns.
constexpr size_t kColumns = 17, kName = 0, kLacks = 9;
constexpr const char* kSocs[][kColumns] = {
#include "soc_profile.inc"
};

constexpr std::array kWords = {
    std::pair{"cube_fp16", "cube rate of float16"},
    std::pair{"cube_bf16", "cube rate of bfloat16"},
    std::pair{"cube_fp32", "cube rate of float32"},
    std::pair{"cube_int8", "cube rate of int8"},
    std::pair{"vector_fp16", "vector rate of float16"},
    std::pair{"vector_fp32", "vector rate of float32"},
    std::pair{"memory", "bandwidth of its memory"},
    std::pair{"l2", "bandwidth of its L2"},
    std::pair{"l2_size", "size of its L2"},
    std::pair{"launch_cube", "cost of launching a product"},
    std::pair{"launch_vector", "cost of launching a vector operator"},
    std::pair{"launch_collective", "cost of launching a collective"},
    std::pair{"link_device", "bandwidth of a device's links together"},
    std::pair{"link_pair", "bandwidth between two devices"},
    std::pair{"link_peers", "number of devices it is linked to"},
    std::pair{"share_cube", "share of the cube rate that products reach"},
    std::pair{"share_memory", "share of the bandwidth that operators reach"},
    std::pair{"share_link", "share of the links that collectives reach"},
};
constexpr std::array kNeeded = {"cube_fp16",   "vector_fp16",   "vector_fp32", "memory",
                                "launch_cube", "launch_vector", "share_cube",  "share_memory"};

bool same(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

}  // namespace

std::span<const Figure> figures() { return kFigures; }

Chip::Chip(std::string_view name) : name_(full_name(name)) {}

std::optional<double> Chip::value(std::string_view quantity) const {
  for (const Figure& one : kFigures)
    if (name_ == one.soc && quantity == one.quantity) return std::strtod(one.value, nullptr);
  return {};
}

bool Chip::lacks(std::string_view dtype) const {
  for (const auto& line : kSocs) {
    if (name_ != line[kName]) continue;
    std::istringstream types(line[kLacks]);
    for (std::string type; types >> type;)
      if (type == dtype) return true;
  }
  return false;
}

std::vector<std::string> Chip::missing() const {
  std::vector<std::string> found;
  for (const char* quantity : kNeeded)
    if (!value(quantity)) found.push_back(words_of(quantity));
  return found;
}

std::vector<Figure> Chip::figures() const {
  std::vector<Figure> found;
  std::ranges::copy_if(kFigures, std::back_inserter(found), [&](const Figure& one) { return name_ == one.soc; });
  return found;
}

std::vector<std::string_view> chip_names() {
  std::vector<std::string_view> names;
  for (const auto& line : kSocs) names.emplace_back(line[kName]);
  for (const Figure& one : kFigures)
    if (std::ranges::find(names, one.soc) == names.end()) names.emplace_back(one.soc);
  return names;
}

std::string full_name(std::string_view name) {
  for (const std::string_view known : chip_names())
    if (same(name, known) || same("Ascend" + std::string(name), known)) return std::string(known);
  return std::string(name);
}

std::string words_of(std::string_view quantity) {
  const auto* const found = std::ranges::find_if(kWords, [&](const auto& one) { return quantity == one.first; });
  return found == kWords.end() ? std::string(quantity) : found->second;
}

}  // namespace npu::profile
