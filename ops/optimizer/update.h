// SPDX-License-Identifier: Apache-2.0
// A pass over several tensors of one shape that reads and rewrites them together: the memory-bound step of an
// optimiser.
#pragma once

#include <cstdint>
#include <vector>

#include "ops/operator.h"
#include "ops/vector/conversion/convert.h"
#include "ops/vector/loop/loop.h"

namespace npu::ops {

/// Updates blocks[k][0, count) of every tensor k, in slot elements. `param` are the numbers of the optimiser.
using UpdateKernel = void (*)(void* const* blocks, int64_t count, const double* param);

class Update {
 public:
  enum class Access : uint8_t { kRead, kWrite, kBoth };
  /// Starts a plan in `slot` (float32 or float64).
  void begin(DType slot);
  /// The next tensor, named for error texts; all have the first one's shape. Raises 161002 if not, or if its dtype is
  /// not floating point.
  void add(std::string_view name, const Tensor& tensor, Access access);
  void plan(UpdateKernel kernel);
  /// `param` is read until the call returns.
  void run(const double* param) const;
  int64_t cost() const { return 200 + 2 * loop_.count() * static_cast<int64_t>(sides_.size()); }

 private:
  struct Side {
    Tensor tensor;
    Access access;
    Convert load = nullptr, store = nullptr;
    bool direct = false;
  };
  void run_range(int64_t begin, int64_t end, const double* param) const;

  DType slot_ = DType::kFloat;
  std::vector<Side> sides_;
  Loop loop_;
  UpdateKernel kernel_ = nullptr;
};

/// What optimisers that take whole lists of tensors share.
struct UpdateList : Operator {
  std::vector<Update> updates;
  int64_t cost() const override {
    int64_t sum = 100;
    for (const Update& u : updates) sum += u.cost();
    return sum;
  }
};

/// The dtype an optimiser computes in: float64 for float64 parameters, else float32.
inline DType update_slot(const Tensor& t) { return t.dtype == DType::kDouble ? DType::kDouble : DType::kFloat; }

}  // namespace npu::ops
