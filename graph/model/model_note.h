// SPDX-License-Identifier: Apache-2.0
// What a model file tells of its model beside functions, as JSON. Readers pass over members that they do not know.
#pragma once

#include "base/json.h"
#include "graph/model/model.h"

namespace npu::graph::model {

Json to_note(const Model& model);
/// Raises 100006, or what JSON raises, where something is missing or cannot be.
Model from_note(const Json& note);

}  // namespace npu::graph::model
