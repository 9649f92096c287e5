// SPDX-License-Identifier: Apache-2.0
// Attention between the edges of a graph: edge i-k attends, for every node j, to the pair of edges i-j and j-k at once.
// Scores and their products are formed for a few i at a time; those of one edge with i-j are a product for each i,
// those with j-k one for each k.
#pragma once

#include "ops/operator.h"
#include "ops/scratch.h"

namespace npu::ops {

/// query [B, H, I, K, D], key1 and value1 [B, H, I, J, D], key2 and value2 [B, H, J, K, D], atten_mask [B, 1, I, 1, J]
/// where a number that is not 0 leaves j out.
struct Floyd : Operator {
  Tensor query, key1, value1, key2, value2, atten_mask, softmax_max, softmax_sum;
  double scale = 1;

  int64_t cost() const override { return 1000 + query.count() * (key1.rank() == 5 ? key1.shape[3] : 1); }

 protected:
  static constexpr int64_t kTile = 16;   ///< of i
  static constexpr int64_t kCopies = 8;  ///< of a statistic

  void check() const;
  void check_like(const Tensor& t, const Tensor& other, const char* name) const;
  void check_statistic(const Tensor& t, const char* name) const;
  int64_t planes() const { return query.shape[0] * query.shape[1]; }
  int64_t i() const { return query.shape[2]; }
  int64_t k() const { return query.shape[3]; }
  int64_t j() const { return key1.shape[3]; }
  int64_t depth() const { return query.shape[4]; }
  /// Rows [from, from + count) of the third axis of plane `plane`, side by side as float32, and back.
  void load(const Tensor& t, int64_t plane, int64_t from, int64_t count, float* to) const;
  void store(const float* from, const Tensor& t, int64_t plane, int64_t first, int64_t count) const;
  /// to[n, k, j] (+)= left[n, k] . by_i[n, j] + left[n, k] . by_k[j, k], for `count` of i.
  void score(int64_t count, const float* left, const float* by_i, const float* by_k, float* to) const;
  /// to[n, k] = sum over j of weights[n, k, j] * (by_i[n, j] + by_k[j, k])
  void mix(int64_t count, const float* weights, const float* by_i, const float* by_k, float* to) const;
  /// to_i[n, j] = sum over k of weights[n, k, j] * right[n, k]; to_k[j, k] += sum over n of the same.
  void spread(int64_t count, const float* weights, const float* right, float* to_i, float* to_k) const;
  /// Scores become what the softmax sees: scaled, far below all others where the mask is on.
  void prepare_scores(int64_t plane, int64_t from, int64_t count, float* scores) const;
  float statistic(const Tensor& t, int64_t plane, int64_t n, int64_t at) const;
};

}  // namespace npu::ops
