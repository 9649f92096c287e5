// SPDX-License-Identifier: Apache-2.0
// The operators of one step, read from what a dump left of it. Files that cannot be read are noted, and the others
// stand.
#pragma once

#include "tools/compare/side/place.h"

namespace npu::compare {

/// `graphs`: texts of the model's graph; may be none.
Run load(const Place& place, const std::vector<std::string>& graphs);

Run load_device(const Place& place, const std::vector<std::string>& graphs);
Run load_arrays(const Place& place);
Run load_msprobe(const Place& place);

}  // namespace npu::compare
