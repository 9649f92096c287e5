// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/import/tensorflow/catalogue.h"

namespace npu::graph::tensorflow {

/// The operators that are known without TensorFlow: signatures.tsv.
const Catalogue& known_operators();

}  // namespace npu::graph::tensorflow
