// SPDX-License-Identifier: Apache-2.0
// TensorFlow's operators as kinds of ours: kinds.tsv.
#pragma once

#include "graph/ir/dialect.h"

namespace npu::graph::tensorflow {

const Dialect& dialect();

}  // namespace npu::graph::tensorflow
