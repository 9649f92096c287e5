// SPDX-License-Identifier: Apache-2.0
#include "device/memory/capacity.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string>

#include "base/error.h"
#include "device/memory/cgroup.h"
#include "device/process/soc.h"

namespace npu::device {

namespace detail {
NPU_SETTING(std::string, memory_setting, "ANYNPU_MEMORY", "",
            "Memory of each device, as in 256M or 4G; empty: that of the SoC, at most 80 % of the machine's.");
}

namespace {

constexpr size_t kSmallest = size_t{1} << 20;

size_t usable_memory() { return machine_memory() / 5 * 4; }

}  // namespace

std::optional<size_t> parse_size(std::string_view text) {
  const std::string copy(text);
  char* end = nullptr;
  const double value = std::strtod(copy.c_str(), &end);
  if (end == copy.c_str() || !(value > 0)) return std::nullopt;
  std::string unit(end);
  std::transform(unit.begin(), unit.end(), unit.begin(), [](unsigned char c) { return std::toupper(c); });
  int shift = 0;
  if (!unit.empty() && unit != "B") {
    const size_t power = std::string_view("KMGT").find(unit[0]);
    if (power == std::string_view::npos) return std::nullopt;
    if (const std::string rest = unit.substr(1); !rest.empty() && rest != "B" && rest != "IB") return std::nullopt;
    shift = static_cast<int>(power + 1) * 10;
  }
  const double bytes = value * static_cast<double>(uint64_t{1} << shift);
  if (!(bytes < 0x1p62)) return std::nullopt;
  return static_cast<size_t>(bytes);
}

uint64_t machine_memory() {
  static const uint64_t bytes =
      std::min(static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)),
               cgroup_memory().limit);
  return bytes;
}

size_t device_capacity() {
  const std::string& text = detail::memory_setting();
  if (text.empty()) return std::min<size_t>(soc().memory_bytes, usable_memory());
  const std::optional<size_t> bytes = parse_size(text);
  if (!bytes) fail(Code::kInvalidParam, "ANYNPU_MEMORY={} is not a size; write it as 256M or 4G", text);
  return std::max(*bytes, kSmallest);
}

size_t process_capacity() { return detail::memory_setting().empty() ? usable_memory() : SIZE_MAX; }

}  // namespace npu::device
