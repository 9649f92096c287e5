// SPDX-License-Identifier: Apache-2.0
// How the rows of a tensor are shared out to groups: where each ends, how many each has, or pairs of group and size.
#pragma once

#include <vector>

#include "base/tensor.h"

namespace npu::ops {

struct Span {
  int64_t group, begin, count;
};

class GroupList {
 public:
  enum Form : uint8_t { kEnds = 0, kSizes = 1, kPairs = 2 };
  /// `list` has an entry for each of `groups`; 161002 where its shape, dtype or form do not fit.
  void plan(const Tensor& list, int64_t form, int64_t groups);
  /// Ends that the client gave as numbers.
  void plan(const std::vector<int64_t>& ends, int64_t groups);
  /// The groups of `total` rows in order; the list is read now. A list that says more than there is ends there: memory
  /// of the device cannot be checked before the call runs.
  std::vector<Span> spans(const Tensor& list, int64_t total) const;

 private:
  Form form_ = kEnds;
  int64_t groups_ = 0;
  std::vector<int64_t> ends_;
};

}  // namespace npu::ops
