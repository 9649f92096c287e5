// SPDX-License-Identifier: Apache-2.0
// Which operators have a choice of dtype, and what may become of each. precision.tsv is our published table; a real
// card's per-operator flags are not public. Its four lists are those of TensorFlow's automatic mixed precision
// (tensorflow/core/grappler/optimizers/auto_mixed_precision_lists.h, Apache-2.0): allow is white, infer gray, deny
// black, clear clear. Operators that TensorFlow leaves out stand on the gray list when they work element by element on
// numbers of like size, and on the black list when they sum or grow without bound.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/dtype.h"

namespace npu::graph {

enum class Unit : uint8_t {
  kCube,      ///< products of matrices: what a real card's cube unit computes
  kVector,    ///< all else that computes or moves numbers
  kLoss,      ///< has no reduced form: the loss stays in the type the program gives it
  kVariable,  ///< has no reduced form: tied to the type of a variable
};

enum class List : uint8_t {
  kWhite,  ///< reduced in mixed modes
  kGray,   ///< as what comes before it
  kBlack,  ///< never reduced in mixed modes
  kClear,  ///< moves or compares numbers: as what comes before it, else as what reads it
};

/// A line of the table.
struct OperatorPrecision {
  std::string_view op;
  Unit unit;
  List list;
  std::vector<DType> dtypes;                 ///< beside float32; empty: there is no choice
  std::vector<std::string_view> attributes;  ///< that name the dtype
  std::vector<size_t> fixed_inputs;          ///< inputs of floats whose dtype is another matter
  std::vector<size_t> fixed_outputs;
  bool has(DType dtype) const;
};

/// By name of the operator.
const std::vector<OperatorPrecision>& all_precision();
/// The line of an operator of TensorFlow's, or null.
const OperatorPrecision* find_precision(std::string_view op);

std::string_view to_string(Unit unit);  ///< "cube"
std::string_view to_string(List list);  ///< "white"

}  // namespace npu::graph
