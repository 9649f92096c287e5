// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "graph/convert/request.h"
#include "graph/model/model_file.h"

namespace npu::graph::convert {

/// The gears of a request for inputs of these shapes, without shapes of outputs. Raises E10018 and the like where they
/// do not fit.
std::vector<model::Gear> make_gears(const Request& request, const std::vector<model::Port>& inputs);

}  // namespace npu::graph::convert
