// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace npu::atc {

/// The facts of an .om (anynpu_model_facts) in lines for people.
std::string lines_of_facts(const std::string& json);

}  // namespace npu::atc
