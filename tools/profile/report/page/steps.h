// SPDX-License-Identifier: Apache-2.0
// Steps of training on both pages: how long they are, and what the longest one did more than the others.
#pragma once

#include "tools/profile/report/fact/facts.h"

namespace npu::profile {

/// Empty where the records tell no steps.
std::string steps_text(const Facts& facts);
/// With a bar for each step, or for the longest of some that follow each other where there are many.
std::string steps_html(const Facts& facts);

}  // namespace npu::profile
