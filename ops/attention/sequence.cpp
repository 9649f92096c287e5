// SPDX-License-Identifier: Apache-2.0
// Sequences of a batch are alike and are worked out when they are asked for; only those of own lengths are listed.
#include "ops/attention/sequence.h"

#include <algorithm>

#include "base/error.h"
#include "ops/attention/tile_kernel.h"

namespace npu::ops {
namespace {

int64_t tiles_of(int64_t queries) { return (queries + kQueryTile - 1) / kQueryTile; }

/// The length of each sequence. Ends that fall back to 0 name sequences that are left out.
std::vector<int64_t> lengths(const std::vector<int64_t>& ends, int64_t rows, const char* name) {
  std::vector<int64_t> out;
  int64_t from = 0;
  bool over = false;
  for (size_t i = 0; i < ends.size(); ++i) {
    over = over || (ends[i] == 0 && from > 0);
    require(
        over ? ends[i] == 0 : ends[i] >= from && ends[i] <= rows,
        "{}[{}] is {} behind {}, of {} rows: it tells where sequence {} ends, in rising order; only zeros may follow "
        "a 0 that stands behind the last sequence",
        name, i, ends[i], i == 0 ? 0 : ends[i - 1], rows, i);
    out.push_back(over ? 0 : ends[i] - from);
    from += out.back();
  }
  return out;
}

}  // namespace

void Sequences::in_batch(int64_t batch, int64_t queries, int64_t keys) {
  *this = Sequences();
  count_ = batch;
  queries_ = query_rows_ = queries;
  keys_ = key_rows_ = keys;
  scores_ = batch * queries * keys;
  tiles_ = batch * tiles_of(queries);
  last_used_ = batch - 1;
  square_ = queries == keys;
}

void Sequences::packed(const std::vector<int64_t>& query_ends, const std::vector<int64_t>& key_ends, int64_t queries,
                       int64_t keys) {
  require(!query_ends.empty() && query_ends.size() == key_ends.size(),
          "actual_seq_qlen has {} numbers, actual_seq_kvlen {}: give where each sequence ends, as many in both",
          query_ends.size(), key_ends.size());
  *this = Sequences();
  const auto of_query = lengths(query_ends, queries, "actual_seq_qlen");
  const auto of_key = lengths(key_ends, keys, "actual_seq_kvlen");
  count_ = static_cast<int64_t>(of_query.size());
  first_used_ = count_;
  for (int64_t i = 0; i < count_; ++i) {
    const int64_t q = of_query[static_cast<size_t>(i)], k = of_key[static_cast<size_t>(i)];
    list_.push_back({i, 0, query_rows_, key_rows_, q, k, scores_});
    tiles_before_.push_back(tiles_);
    queries_ = std::max(queries_, q);
    keys_ = std::max(keys_, k);
    query_rows_ += q;
    key_rows_ += k;
    scores_ += q * k;
    tiles_ += tiles_of(q);
    square_ = square_ && q == k;
    if (q > 0) first_used_ = std::min(first_used_, i), last_used_ = i;
  }
}

Sequence Sequences::operator[](int64_t index) const {
  if (!list_.empty()) return list_[static_cast<size_t>(index)];
  return {index, index, 0, 0, queries_, keys_, index * queries_ * keys_};
}

// Tiles of one head stand together: they read the same keys.
Sequences::Place Sequences::place(int64_t n, int64_t heads) const {
  int64_t index, before;
  if (list_.empty()) {
    index = n / heads / tiles_of(queries_);
    before = index * tiles_of(queries_);
  } else {
    // Of sequences without queries, which begin where the next one does, the last is found: the one that has some.
    index = std::upper_bound(tiles_before_.begin(), tiles_before_.end(), n / heads) - tiles_before_.begin() - 1;
    before = tiles_before_[static_cast<size_t>(index)];
  }
  const Sequence sequence = (*this)[index];
  const int64_t inside = n - before * heads, tiles = tiles_of(sequence.queries);
  return {sequence, inside / tiles, inside % tiles * kQueryTile};
}

}  // namespace npu::ops
