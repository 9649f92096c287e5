// SPDX-License-Identifier: Apache-2.0
// The softmax runs along with the tiles: each row keeps the largest score so far and the sum of exponentials relative
// to it, and when a larger score comes, what was added up is scaled down to it. Keys are taken in order by one thread
// and tiles have a fixed size, so bits depend on nothing else.
// Attention forward, tile by tile: scores of one tile live in the cache and are never written to memory.
#include <algorithm>
#include <limits>

#include "base/thread_pool.h"
#include "ops/attention/attention.h"
#include "ops/attention/layout.h"
#include "ops/attention/tile_kernel.h"
#include "ops/cube/gemm.h"
#include "ops/scratch.h"

namespace npu::ops {
namespace {

struct FlashAttention final : AttentionOp {
  // softmax_out is never written: probabilities exist a tile at a time, and backward makes them again.
  Tensor softmax_out, attention_out;

  void prepare() override;
  void run() override;
  int64_t cost() const override { return 1000 + heads_ * sequences_.scores() * (depth_ + value_depth_) / 30; }

 private:
  void run_tile(const Sequence& s, int64_t n, int64_t row) const;
  void accumulate(const float* scores, const float* v, int64_t ldv, int64_t rows, int64_t cols, float* out) const;
  void finish(int64_t rows, float* sum, float* out) const;
  void store_statistics(const Sequence& s, int64_t n, int64_t row, int64_t rows, const float* maximum,
                        const float* sum) const;
  Tensor out_;
};

void FlashAttention::prepare() {
  check();
  out_ = view_of(attention_out, heads_, "attention_out");
  const Dims expected{q_.shape[0], heads_, q_.shape[2], value_depth_};
  require(out_.shape == expected, "attention_out is {} ({}), the result is {} as BNSD", attention_out.shape,
          input_layout, expected);
  check_statistics();
}

void FlashAttention::run() {
  parallel_parts(sequences_.places(heads_), [&](int64_t part) {
    const auto [sequence, head, row] = sequences_.place(part, heads_);
    run_tile(sequence, head, row);
  });
  // Rows behind the last sequence.
  if (sequences_.query_rows() == out_.shape[2]) return;
  clear_rows(out_, sequences_.query_rows());
  for (const Tensor* t : {&softmax_max, &softmax_sum}) {
    if (t->defined() && t->count() > 0) clear_rows(packed_view(*t, "softmax_max"), sequences_.query_rows());
  }
}

void FlashAttention::run_tile(const Sequence& s, int64_t n, int64_t row) const {
  const int64_t rows = std::min(kQueryTile, s.queries - row);
  const Scratch<float> q_buffer(kQueryTile * depth_), k_buffer(kKeyTile * depth_), v_buffer(kKeyTile * value_depth_);
  const Scratch<float> scores(kQueryTile * kKeyTile), out(kQueryTile * value_depth_);
  float maximum[kQueryTile], sum[kQueryTile], rescale[kQueryTile];
  // A sink is a key that was there before all others and has no value.
  std::fill_n(maximum, rows, has_sink() ? sink_of(n) : -std::numeric_limits<float>::infinity());
  std::fill_n(sum, rows, has_sink() ? 1.0f : 0.0f);
  std::fill_n(out.data(), rows * value_depth_, 0.0f);
  int64_t ldq, ldk, ldv;
  const float* q = load_queries(s, n, row, rows, q_buffer, &ldq);
  for (int64_t col = 0; col < s.keys; col += kKeyTile) {
    const int64_t cols = std::min(kKeyTile, s.keys - col);
    const float* k = load_keys(s, n / group(), col, cols, k_buffer, &ldk);
    const float* v = load_rows(v_, s.batch, n / group(), s.first_key + col, cols, v_buffer, &ldv);
    score_tile(q, ldq, k, ldk, s, n, row, rows, col, cols, scores);
    softmax_step(scores, rows, cols, maximum, sum, rescale);
    // Before the tile is added: what came before refers to the old maximum.
    if (col > 0) scale_rows(out, rows, value_depth_, rescale);
    // After the sums: dropped scores still count in the softmax, as dropout follows it.
    apply_dropout(scores, s, n, row, rows, col, cols);
    accumulate(scores, v, ldv, rows, cols, out);
  }
  finish(rows, sum, out);
  store_rows(out_, s.batch, n, s.first_query + row, rows, out, value_depth_);
  store_statistics(s, n, row, rows, maximum, sum);
}

// One division a row at the end, instead of one a score: the result is linear in the probabilities.
void FlashAttention::finish(int64_t rows, float* sum, float* out) const {
  float factor[kQueryTile];
  for (int64_t r = 0; r < rows; ++r) {
    // No key is left to this query.
    if (sum[r] == 0 && hidden_rows_are_nan) sum[r] = std::numeric_limits<float>::quiet_NaN();
    factor[r] = sum[r] == 0 ? 0.0f : 1.0f / sum[r];
  }
  scale_rows(out, rows, value_depth_, factor);
}

void FlashAttention::accumulate(const float* scores, const float* v, int64_t ldv, int64_t rows, int64_t cols,
                                float* out) const {
  cube::GemmArgs<float> args;
  args.m = rows;
  args.n = value_depth_;
  args.k = cols;
  args.a = scores;
  args.lda = cols;
  args.b = v;
  args.ldb = ldv;
  args.beta = 1;
  args.c = out;
  args.ldc = value_depth_;
  cube::gemm_serial(args);
}

void FlashAttention::store_statistics(const Sequence& s, int64_t n, int64_t row, int64_t rows, const float* maximum,
                                      const float* sum) const {
  for (const auto& [tensor, values] : {std::pair(&softmax_max, maximum), std::pair(&softmax_sum, sum)}) {
    if (!tensor->defined() || tensor->count() == 0) continue;
    for (int64_t r = 0; r < rows; ++r) {
      float* to = statistic(*tensor, s, n, row + r);
      for (int64_t i = 0; i < 8; ++i) to[i * tensor->strides.back()] = values[r];
    }
  }
}

std::vector<Field> forward_fields() {
  auto fields = attention_fields<FlashAttention>();
  fields.push_back(optional_out<&FlashAttention::softmax_max>("softmax_max"));
  fields.push_back(optional_out<&FlashAttention::softmax_sum>("softmax_sum"));
  fields.push_back(optional_out<&FlashAttention::softmax_out>("softmax_out"));
  fields.push_back(out<&FlashAttention::attention_out>("attention_out"));
  return fields;
}
const Registration register_flash("flash_attention", "attention", forward_fields(), &make<FlashAttention>);

}  // namespace
}  // namespace npu::ops
