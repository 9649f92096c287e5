// SPDX-License-Identifier: Apache-2.0
// One line of a result: a tensor of my dump and its counterpart.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/compare/exit/refusal.h"
#include "tools/compare/metric/metric.h"
#include "tools/compare/report/csv.h"
#include "tools/compare/tensor/tensor.h"

namespace npu::compare {

struct Options {
  Metrics metrics = all_metrics();
  bool overflow = false;   ///< a column says whether a half overflowed
  uint64_t most = 0;       ///< elements that are compared; 0: all
  bool my_address = true;  ///< whether there is a column for it
  bool golden_address = true;
  bool sequence = false;  ///< a column with the operator's place in the graph
};

struct TensorRow {
  std::string op_type, mine, my_type = "NaN", my_address = "NaN";
  std::string golden, golden_type = "NaN", golden_address = "NaN";
  std::string tensor = "NaN", shape = "NaN", overflow = "NaN";
  std::vector<std::string> metrics;  ///< empty: none of them was taken
  std::string reason;
};

/// Rows of operators that belong together, and what became of them.
struct Outcome {
  std::vector<std::pair<int64_t, TensorRow>> rows;  ///< with the operator's place in the graph
  Exit code = Exit::kOk;
  bool matched = false;  ///< something was compared
};

Cells header(const Options& options);
Cells cells(size_t index, int64_t sequence, const TensorRow& row, const Options& options);

/// Fills in metrics and reasons.
void compare_views(const View& mine, const View& golden, const Circumstances& circumstances, const Options& options,
                   TensorRow& row);
/// "YES" where a half is the largest finite one or none, "NaN" for other types.
std::string overflow_of(const Tensor& tensor);
/// "[2,3]".
std::string bracketed(const Shape& shape);
std::string address_of(const Tensor& tensor);

}  // namespace npu::compare
