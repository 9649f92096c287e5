// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/machine_limit/limit.h"

namespace npu::limit {

std::vector<ArithmeticCase> dot_arithmetic() { return {}; }

}  // namespace npu::limit
