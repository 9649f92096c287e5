// SPDX-License-Identifier: Apache-2.0
// ONNX models as functions of ours: bytes in, no ONNX code.
#pragma once

#include "graph/import/imported.h"
#include "graph/import/message.h"

namespace npu::graph::onnx {

/// Opsets whose operators are read.
inline constexpr int64_t kOldestOpset = 1, kNewestOpset = 25;

/// Reads a model. Raises 100006 on damaged bytes, 100024 naming all operators and nodes that are not known, 161002
/// naming the node on a graph that does not hold together, 100003 when data beside the file are missing.
Imported read_model(Bytes model, const ImportOptions& options = {});

}  // namespace npu::graph::onnx
