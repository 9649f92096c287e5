// SPDX-License-Identifier: Apache-2.0
// What never changes of the HTML page: nothing in it leads out of the file.
#pragma once

#include <string_view>

namespace npu::profile {

extern const std::string_view kStyle;
/// Draws the timeline of the element `data` into the canvas `timeline`: the wheel zooms, dragging moves, a double click
/// shows all.
extern const std::string_view kScript;

}  // namespace npu::profile
