// SPDX-License-Identifier: Apache-2.0
// Other SoCs than that of ANYNPU_SOC, for tests.
#pragma once

#include <algorithm>
#include <string_view>

#include "device/process/soc.h"

namespace npu::device {

inline const Soc& profile_named(std::string_view name) {
  return *std::ranges::find(soc_profiles(), name, [](const Soc& each) { return std::string_view(each.name); });
}

/// The SoC of that name is in force while it lives.
struct OnSoc {
  explicit OnSoc(std::string_view name) { detail::override_soc(&profile_named(name)); }
  OnSoc(const OnSoc&) = delete;
  OnSoc& operator=(const OnSoc&) = delete;
  ~OnSoc() { detail::override_soc(nullptr); }
};

}  // namespace npu::device
