// SPDX-License-Identifier: Apache-2.0
#include "device/soc.h"

#include <string>

#include "base/error.h"
#include "base/setting.h"

namespace npu::device {
namespace {

NPU_SETTING(std::string, soc_name, "ANYNPU_SOC", "Ascend910B1", "The SoC this process claims to run on.");
NPU_SETTING(int64_t, devices, "ANYNPU_DEVICES", 8, "Number of devices, 1 to 64.");

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

std::span<const Soc> soc_profiles() { return kProfiles; }

const Soc& soc() {
  static const Soc& chosen = find_profile(soc_name());
  return chosen;
}

int device_count() {
  const int64_t count = devices();
  return count < 1 ? 1 : count > kMaxDevices ? kMaxDevices : static_cast<int>(count);
}

void check_device(int64_t device) {
  if (device >= 0 && device < device_count()) return;
  fail(Code::kRtInvalidDevice, "device {} does not exist: this process has devices 0 to {} (ANYNPU_DEVICES)", device,
       device_count() - 1);
}

}  // namespace npu::device
