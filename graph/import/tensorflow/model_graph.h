// SPDX-License-Identifier: Apache-2.0
// What frozen graphs and SavedModels have in common on their way to a model.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "graph/import/imported.h"

namespace npu::graph::tensorflow {

/// Whether nodes of this operator are variables: the handle of one, or a reference to it.
bool makes_variable(std::string_view op);

/// The shape that was asked for an input, else its `own`. Raises 161002 where their ranks differ.
PartialShape asked_shape(const std::string& input, const PartialShape& own, const ImportOptions& options);

/// Names every output of every node as TensorFlow does, "node:0".
void name_values(const Function& f, Imported& model);

/// A value by its name, whose index may be left out where it is 0.
std::optional<Edge> value_named(const Imported& model, const std::string& name);

}  // namespace npu::graph::tensorflow
