// SPDX-License-Identifier: Apache-2.0
#include "graph/import/tensorflow/dialect.h"

#include "graph/import/tensorflow/value.h"

namespace npu::graph::tensorflow {
namespace {

constexpr Dialect::Row kRows[] = {
#include "kinds.inc"
};

}  // namespace

const Dialect& dialect() {
  static const Dialect tensorflow(kRows, write_attribute);
  return tensorflow;
}

}  // namespace npu::graph::tensorflow
