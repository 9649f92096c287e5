// SPDX-License-Identifier: Apache-2.0
#include "device/process/soc.h"

#include <algorithm>
#include <atomic>
#include <bitset>
#include <charconv>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/setting.h"
#include "base/split.h"

namespace npu::device {
namespace {

NPU_SETTING(std::string, soc_name, "ANYNPU_SOC", "Ascend910B1", "The SoC this process claims to run on.");
NPU_SETTING(int64_t, devices, "ANYNPU_DEVICES", 8, "Number of devices, 1 to 64.");
NPU_SETTING(std::string, visible_devices, "ASCEND_RT_VISIBLE_DEVICES", "",
            "Devices this process may use, as 0,3: they become its devices 0, 1 and so on. Empty: all.");

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kGiB = uint64_t{1} << 30;

/// A line of soc_profile.tsv; "-" where there is nothing to say.
struct Line {
  const char *name, *family, *generation, *cube_cores, *vector_cores, *l2_mib, *memory_gib, *overflow, *precision_mode,
      *lacks, *reduces, *no_product, *no_extreme, *moves, *ranks_per_host, *cluster, *hosts;
};
constexpr Line kLines[] = {
#include "soc_profile.inc"
};

[[noreturn]] void refuse_cell(std::string_view cell) {
  fail(Code::kInternal, "soc_profile.tsv: '{}' is no cell of its column", cell);
}

uint32_t number(std::string_view cell) {
  uint32_t value = 0;
  if (cell == "-") return value;
  const auto parsed = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (parsed.ec != std::errc() || parsed.ptr != cell.data() + cell.size()) refuse_cell(cell);
  return value;
}

uint64_t numbers(std::string_view cell) {
  uint64_t out = 0;
  if (cell == "-") return out;
  for (const std::string_view each : split(cell, " ")) out |= uint64_t{1} << number(each);
  return out;
}

/// Types by name, with blanks between.
DTypes types(std::string_view cell) {
  DTypes out = 0;
  if (cell == "-") return out;
  for (const std::string_view each : split(cell, " ")) {
    uint32_t at = 0;
    while (at < 64 && name_of(static_cast<DType>(at)) != each) ++at;
    if (at == 64) refuse_cell(each);
    out |= DTypes{1} << at;
  }
  return out;
}

Soc profile_of(const Line& line) {
  return {line.name,
          line.family,
          static_cast<int>(number(line.generation)),
          number(line.cube_cores),
          number(line.vector_cores),
          number(line.l2_mib) * kMiB,
          number(line.memory_gib) * kGiB,
          std::string_view(line.overflow) == "inf_nan",
          line.precision_mode,
          types(line.lacks),
          {types(line.reduces), types(line.no_product), types(line.no_extreme), types(line.moves),
           numbers(line.ranks_per_host), static_cast<int>(number(line.cluster)), number(line.hosts)}};
}

std::atomic<const Soc*> overriding = nullptr;

const Soc& find_profile(const std::string& name) {
  std::string known;
  for (const Soc& profile : soc_profiles()) {
    if (name == profile.name) return profile;
    known += known.empty() ? profile.name : std::string(", ") + profile.name;
  }
  fail(Code::kInvalidParam, "ANYNPU_SOC={} is not a known SoC; choose one of {}", name, known);
}

}  // namespace

std::vector<int> detail::visible_numbers(std::string_view list, int all) {
  std::bitset<kMaxDevices> seen;
  std::vector<int> numbers;
  for (const std::string_view entry : split(list, ",")) {
    int number = -1;
    const auto parsed = std::from_chars(entry.data(), entry.data() + entry.size(), number);
    const bool good = parsed.ec == std::errc() && parsed.ptr == entry.data() + entry.size();
    if (!good || number < 0 || number >= all || seen.test(static_cast<size_t>(number))) break;
    seen.set(static_cast<size_t>(number));
    numbers.push_back(number);
  }
  return numbers;
}

std::span<const Soc> soc_profiles() {
  static const std::vector<Soc>& all = *[] {
    auto* made = new std::vector<Soc>;
    for (const Line& line : kLines) made->push_back(profile_of(line));
    return made;
  }();
  return all;
}

void detail::override_soc(const Soc* soc) { overriding = soc; }

const Soc& soc() {
  if (const Soc* other = overriding.load(std::memory_order_relaxed)) [[unlikely]]
    return *other;
  static const Soc& chosen = find_profile(soc_name());
  return chosen;
}

int all_devices() { return static_cast<int>(std::clamp<int64_t>(devices(), 1, kMaxDevices)); }

int device_count() {
  return visible_devices().empty() ? all_devices()
                                   : static_cast<int>(detail::visible_numbers(visible_devices(), all_devices()).size());
}

int physical_device(int device) {
  check_device(device);
  if (visible_devices().empty()) return device;
  return detail::visible_numbers(visible_devices(), all_devices())[static_cast<size_t>(device)];
}

void check_device(int64_t device) {
  if (device >= 0 && device < device_count()) return;
  if (device_count() == 0)
    fail(Code::kRtInvalidDevice, "device {} does not exist: ASCEND_RT_VISIBLE_DEVICES={} names none of the {} devices",
         device, visible_devices(), all_devices());
  fail(Code::kRtInvalidDevice, "device {} does not exist: this process has devices 0 to {} (ANYNPU_DEVICES)", device,
       device_count() - 1);
}

}  // namespace npu::device
