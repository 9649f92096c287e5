// SPDX-License-Identifier: Apache-2.0
// Where the sequences of a call lie: one in each row of a batch, or one behind the other in one long row.
#pragma once

#include <cstdint>
#include <vector>

namespace npu::ops {

struct Sequence {
  int64_t index = 0;        ///< its place among all
  int64_t batch = 0;        ///< the row that holds it: 0 where sequences lie one behind the other
  int64_t first_query = 0;  ///< where it begins in its row
  int64_t first_key = 0;
  int64_t queries = 0, keys = 0;
  int64_t scores = 0;  ///< how many one head has in all sequences before it
};

class Sequences {
 public:
  /// One piece of work: some queries of one head.
  struct Place {
    Sequence sequence;
    int64_t head, row;
  };

  /// `batch` sequences of one length, one a row.
  void in_batch(int64_t batch, int64_t queries, int64_t keys);
  /// Sequences one behind the other, told by where each ends (actual_seq_qlen, actual_seq_kvlen); zeros behind the
  /// last mean sequences that are left out. Raises 161002 where these do not fit into `queries` and `keys` rows.
  void packed(const std::vector<int64_t>& query_ends, const std::vector<int64_t>& key_ends, int64_t queries,
              int64_t keys);

  int64_t count() const { return count_; }
  Sequence operator[](int64_t index) const;
  int64_t scores() const { return scores_; }          ///< of one head, in all sequences
  int64_t longest_query() const { return queries_; }  ///< the largest number of queries of a sequence
  int64_t longest_key() const { return keys_; }       ///< the largest number of keys
  bool square() const { return square_; }             ///< each has as many queries as keys
  int64_t query_rows() const { return query_rows_; }  ///< rows of one batch that hold queries of any sequence
  int64_t key_rows() const { return key_rows_; }      ///< rows that hold keys
  int64_t first_used() const { return first_used_; }  ///< the first sequence that has queries
  int64_t last_used() const { return last_used_; }    ///< the last one

  /// Pieces of work, kQueryTile queries of one of `heads` heads each, and which one is the n-th.
  int64_t places(int64_t heads) const { return tiles_ * heads; }
  Place place(int64_t n, int64_t heads) const;

 private:
  int64_t count_ = 0, scores_ = 0, queries_ = 0, keys_ = 0, query_rows_ = 0, key_rows_ = 0;
  int64_t first_used_ = 0, last_used_ = 0;
  int64_t tiles_ = 0;  ///< tiles of queries of one head, in all sequences
  bool square_ = true;
  std::vector<Sequence> list_;         ///< empty where all are alike
  std::vector<int64_t> tiles_before_;  ///< of one head, in the sequences before each of `list_`
};

}  // namespace npu::ops
