// SPDX-License-Identifier: Apache-2.0
// From what an importer read to a model file: shapes and gears checked, types of inputs and outputs changed, passes
// run, the sizes of every gear planned.
#pragma once

#include "graph/convert/request.h"
#include "graph/import/imported.h"
#include "graph/model/model_file.h"

namespace npu::graph::convert {

/// What the importer is to know of a request.
ImportOptions import_options(const Request& request);

/// Raises E10016 where --input_shape names an input that the model does not have.
void check_inputs(const Imported& imported, const Request& request);

/// The model. Raises E10016 and the like (refusal.h) for a request that does not fit it, else what the passes and the
/// planner raise of its nodes.
model::Model convert(Imported imported, const Request& request);

}  // namespace npu::graph::convert
