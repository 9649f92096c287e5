// SPDX-License-Identifier: Apache-2.0
// The device's time by module: a table for both pages, and the flame graph of the browser's.
#pragma once

#include <string_view>

#include "base/json.h"
#include "tools/profile/report/fact/facts.h"

namespace npu::profile {

/// Empty where nothing is of a module.
std::string modules_text(const Facts& facts);
std::string modules_html(const Facts& facts);

/// {"name", "time", "count", "inside": […]}, nanoseconds; what is too small to be seen stands together under one name.
Json flame_of(const Facts& facts);
/// Draws data.flames[i] into the i-th element of class "flame".
extern const std::string_view kFlameScript;

}  // namespace npu::profile
