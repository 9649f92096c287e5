// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/convert/request.h"
#include "graph/import/imported.h"

namespace npu::graph::convert {

/// Inputs that are to be float16 (--input_fp16_nodes) and outputs of other types (--output_type), with a Cast each.
/// Raises E10016, E10017 for names that the model does not have.
void retype(Imported& imported, const Request& request);

}  // namespace npu::graph::convert
