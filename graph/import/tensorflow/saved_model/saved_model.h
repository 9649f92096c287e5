// SPDX-License-Identifier: Apache-2.0
// TensorFlow's SavedModels (a folder of saved_model.pb and the values of variables) as models, without TensorFlow.
#pragma once

#include "graph/import/imported.h"
#include "graph/import/message.h"

namespace npu::graph::tensorflow {

/// Whether a .pb is that of a SavedModel and not a graph: it begins with the version of its form.
bool is_saved_model(Bytes pb);

/// A signature as a model, its variables as constants; they lie in variables/ of `options.folder`. Inputs and outputs
/// are the signature's, in the order of their names; results that are asked for are outputs of the signature, or
/// "node:index" of the graph. Raises what read_frozen and Bundle raise, 161002 naming the signatures where the one that
/// is asked for is none of them, 207000 naming variables that are written or not restored, tables and assets.
Imported read_saved_model(Bytes saved_model, const ImportOptions& options);

}  // namespace npu::graph::tensorflow
