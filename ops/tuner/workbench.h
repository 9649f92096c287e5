// SPDX-License-Identifier: Apache-2.0
// An operator taken out of a run, to be computed again and again on memory of its own.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "ops/operator.h"

namespace npu::ops::tuning {

class Workbench {
 public:
  /// Copies what the tensors of `original` hold now; what overlaps there overlaps here.
  explicit Workbench(Operator& original);
  /// Bytes that a workbench for `original` takes.
  static int64_t bytes(Operator& original);

  /// The same call on the memory here, not prepared. May be called several times; all share the memory.
  std::unique_ptr<Operator> make();
  /// Puts back what the memory held at first.
  void restore();
  /// What the tensors hold that the operator writes, one after the other.
  std::vector<std::byte> results(Operator& made) const;

 private:
  struct Range {
    std::byte* begin;
    std::byte* end;
    std::vector<std::byte> first, now;
  };
  void add(const Tensor& tensor);
  void move(Tensor& tensor);

  Operator& original_;
  std::vector<Range> ranges_;
  std::deque<Tensor> origins_;  ///< which operators tell shapes to that the data decide
};

/// Whether `a` and `b`, results() of one operator `made`, are the same up to the order of sums: against kernels that do
/// not apply, not for how well they round. Numbers may differ by 256 (of 16 bits: 4) times the type's rounding of the
/// largest magnitude in their tensor.
bool agree(Operator& made, const std::vector<std::byte>& a, const std::vector<std::byte>& b);

}  // namespace npu::ops::tuning
