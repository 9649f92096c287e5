// SPDX-License-Identifier: Apache-2.0
// Attention for inference: its arguments, whose checks are in infer_arguments.cpp, and its parts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ops/attention/infer_layout.h"
#include "ops/attention/pages.h"
#include "ops/operator.h"
#include "ops/runner/call.h"

namespace npu::ops {

/// Arguments for quantised and shared caches, which are not built, under the client's names.
struct UnbuiltCaches {
  Tensor dequant_scale1, quant_scale1, dequant_scale2, quant_scale2, quant_offset2, antiquant_scale, antiquant_offset,
      query_padding_size, kv_padding_size, key_antiquant_scale, key_antiquant_offset, value_antiquant_scale,
      value_antiquant_offset, key_shared_prefix, value_shared_prefix, key_rope_antiquant_scale, dequant_scale_query,
      q_start_idx, kv_start_idx;
};

struct InferAttention final : Operator, UnbuiltCaches {
  Tensor query, pse_shift, atten_mask, block_table, query_rope, key_rope, learnable_sink;
  std::vector<Tensor> key, value;
  std::vector<int64_t> actual_seq_lengths, actual_seq_lengths_kv, actual_shared_prefix_len;
  int64_t num_heads = 1;
  double scale = 1;
  int64_t pre_tokens = INT64_MAX, next_tokens = INT64_MAX;
  std::string input_layout;
  int64_t num_key_value_heads = 0;
  int64_t sparse_mode = 0, pse_type = 0;
  bool softmax_lse_flag = false;
  Tensor attention_out, softmax_lse;

  void prepare() override;
  void run() override;
  int64_t cost() const override;

 private:
  /// One call: sample `b` (-1: all), where its queries and keys begin in the row that holds them and how many there
  /// are, and where its statistics begin.
  struct Part {
    Call call{"flash_attention"};
    int64_t b, first_query = 0, first_key = 0, queries = 0, keys = 0, statistics = 0;
  };
  void refuse_unbuilt() const;
  void check_heads();
  void check_keys(int64_t kv_heads);
  void check_pages(int64_t kv_heads);
  void check_rope(int64_t kv_heads);
  void check_sink();
  void check_masks();
  void check_statistics();
  bool paged() const { return block_table.defined() && block_table.count() > 0; }
  int64_t samples() const;
  int64_t keys_of_longest() const;
  int64_t length(const std::vector<int64_t>& lengths, int64_t b, int64_t longest, const char* name) const;
  void measure(Part& part) const;
  void measure_packed(Part& part) const;
  void plan_part(int64_t b);
  Tensor queries_of(const Part& part, const Tensor& t) const;
  Tensor keys_of(const Part& part, const std::vector<Tensor>& tensors, size_t which) const;
  void gather(const Part& part);
  void clear_behind(int64_t b, int64_t from) const;
  void store_lse(const Part& part) const;

  InferLayout layout_;
  Tensor q_, out_, q_rope_, pse_, mask_;  ///< [B, N, S, …] views
  std::vector<Tensor> k_, v_, k_rope_;    ///< [B or 1, Nkv, S, D]
  Pages pages_[3];                        ///< of keys, values and, where there are any, turned columns of keys
  std::vector<std::byte> gathered_[3];    ///< their tokens of one sample at a time
  std::vector<float> sink_;
  std::vector<Part> parts_;
  std::vector<float> maximum_, sum_;  ///< [B, N, S, 8], where the client wants them
};

}  // namespace npu::ops
