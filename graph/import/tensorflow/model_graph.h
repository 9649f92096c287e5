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

/// Loops and branches of dataflow (Enter, Switch, Merge …) become While and If nodes, in `f`, which has no results yet,
/// and in the functions of the model. A value of `model` that may not come, as it is inside of a loop or on one side of
/// a condition, has no name any more; raises 161002 where it is one of those `asked` for, and what make_loops and
/// make_branches raise.
void make_functional(Function& f, Imported& model, const std::vector<std::string>& asked);

/// A value by its name, whose index may be left out where it is 0.
std::optional<Edge> value_named(const Imported& model, const std::string& name);

}  // namespace npu::graph::tensorflow
