// SPDX-License-Identifier: Apache-2.0
#include "device/process/soc.h"

#include <algorithm>
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

// Advertised figures; the joint cores of the first generation count as vector cores, too.
constexpr Soc kProfiles[] = {
    // name          cube  vector  L2          memory     inf_nan  bfloat16
    {"Ascend910B1", 24, 48, 192 * kMiB, 64 * kGiB, true, true},
    {"Ascend910B2", 24, 48, 192 * kMiB, 64 * kGiB, true, true},
    {"Ascend910B3", 20, 40, 192 * kMiB, 64 * kGiB, true, true},
    {"Ascend910B4", 20, 40, 96 * kMiB, 32 * kGiB, true, true},
    {"Ascend910A", 32, 32, 32 * kMiB, 32 * kGiB, false, false},
    {"Ascend310P3", 8, 8, 16 * kMiB, 24 * kGiB, false, false},
};

const Soc& find_profile(const std::string& name) {
  std::string known;
  for (const Soc& profile : kProfiles) {
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

std::span<const Soc> soc_profiles() { return kProfiles; }

const Soc& soc() {
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
