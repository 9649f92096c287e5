// SPDX-License-Identifier: Apache-2.0
// TensorFlow's frozen graphs (a GraphDef whose variables are constants) as models, without TensorFlow.
#pragma once

#include "graph/import/imported.h"
#include "graph/import/message.h"

namespace npu::graph::tensorflow {

/// Placeholders become arguments; results are those asked for, else the outputs that no node reads. What results that
/// were asked for do not stand on, and functions that nothing calls, are not read. Raises 100006 on damaged bytes,
/// 100024 naming all operators that are not known, 161002 naming a node, an input or a result that does not fit.
Imported read_frozen(Bytes graph_def, const ImportOptions& options = {});

}  // namespace npu::graph::tensorflow
