// SPDX-License-Identifier: Apache-2.0
#include "ops/moe/group_list.h"

#include <algorithm>

#include "ops/index/token_rows.h"

namespace npu::ops {

void GroupList::plan(const Tensor& list, int64_t form, int64_t groups) {
  require(form >= 0 && form <= 2,
          "groupListType is {}; use 0 for where groups end, 1 for their sizes, 2 for pairs of group and size", form);
  form_ = static_cast<Form>(form), groups_ = groups;
  ends_.clear();
  const Dims wanted = form_ == kPairs ? Dims{groups, 2} : Dims{groups};
  require(list.shape == wanted && list.dtype == DType::kInt64, "groupList is {}, there are {} groups; give int64{}",
          list, groups, wanted);
}

void GroupList::plan(const std::vector<int64_t>& ends, int64_t groups) {
  form_ = kEnds, groups_ = groups, ends_ = ends;
  require(static_cast<int64_t>(ends.size()) == groups, "groupList has {} numbers, there are {} groups", ends.size(),
          groups);
  require(std::ranges::is_sorted(ends) && (ends.empty() || ends.front() >= 0),
          "groupList goes down or starts below 0; it says where groups end");
}

std::vector<Span> GroupList::spans(const Tensor& list, int64_t total) const {
  const std::vector<int64_t> values = ends_.empty() ? read_whole(list) : ends_;
  std::vector<Span> spans;
  int64_t begin = 0;
  for (int64_t i = 0; i < groups_; ++i) {
    const int64_t group = form_ == kPairs ? values[static_cast<size_t>(2 * i)] : i;
    const int64_t value = values[static_cast<size_t>(form_ == kPairs ? 2 * i + 1 : i)];
    const int64_t size = form_ == kEnds ? std::min(value, total) - begin : std::min(value, total - begin);
    const int64_t count = std::max<int64_t>(size, 0);
    if (group >= 0 && group < groups_) spans.push_back({group, begin, count});
    begin += count;
  }
  return spans;
}

}  // namespace npu::ops
