// SPDX-License-Identifier: Apache-2.0
// Attention backward: probabilities are computed again from the saved row statistics, tile by tile. One part works on
// one key head of one sequence, so every gradient is summed by one thread in a fixed order.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/thread_pool.h"
#include "ops/attention/attention.h"
#include "ops/attention/layout.h"
#include "ops/attention/tile_kernel.h"
#include "ops/cube/gemm.h"
#include "ops/scratch.h"
#include "ops/vector/conversion/convert.h"

namespace npu::ops {
namespace {

struct FlashAttentionGrad final : AttentionOp {
  // `softmax` is not read; nothing wrote it.
  Tensor dy, softmax, attention, dq, dq_rope, dk, dk_rope, dv, dpse, dsink;

  void prepare() override;
  void run() override;
  int64_t cost() const override { return 1000 + heads_ * sequences_.scores() * (depth_ + value_depth_) / 12; }

 private:
  struct Tile;
  void check_gradients();
  void check_bias_gradient() const;
  void run_head(const Sequence& s, int64_t kv_head);
  void run_tile(const Tile& tile) const;
  void load_tile(Tile& tile, int64_t row) const;
  void add_to_sink(const Tile& tile);
  void clear_rest() const;
  void sum_sink() const;
  bool wants_bias() const { return pse_.defined() && dpse.defined() && dpse.count() > 0; }
  bool wants_sink() const { return has_sink() && dsink.defined() && dsink.count() > 0; }
  Tensor dy_, attention_, dq_, dq_rope_, dk_, dk_rope_, dv_;
  std::vector<double> of_sink_;  ///< [sequence, head]: each is summed by one thread
};

/// Columns of a sum that go to two tensors.
void store_both(const Tensor& a, const Tensor& b, int64_t batch, int64_t head, int64_t row, int64_t rows,
                const float* from) {
  const int64_t ld = a.shape[3] + (b.defined() ? b.shape[3] : 0);
  store_rows(a, batch, head, row, rows, from, ld);
  if (b.defined()) store_rows(b, batch, head, row, rows, from + a.shape[3], ld);
}

// c += op(a) op(b), all matrices dense or with their own row distance.
void add_product(bool trans_a, bool trans_b, int64_t m, int64_t n, int64_t k, float alpha, const float* a, int64_t lda,
                 const float* b, int64_t ldb, float beta, float* c, int64_t ldc) {
  cube::gemm_serial(cube::GemmArgs<float>{trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc});
}

struct FlashAttentionGrad::Tile {
  Sequence s;
  int64_t n, row, rows, col, cols;
  const float *q, *dy, *k, *v;  // rows of the inputs as floats
  int64_t ldq, lddy, ldk, ldv;
  float *q_buffer, *dy_buffer, *out_buffer;
  float *probability, *gradient, *dropped;  // kQueryTile x kKeyTile
  float *dq, *dk, *dv;                      // dense sums: of the query tile, of the whole key head
  float maximum[kQueryTile], sum[kQueryTile], delta[kQueryTile];
};

void FlashAttentionGrad::prepare() {
  check();
  dy_ = view_of(dy, heads_, "dy");
  const Dims expected{q_.shape[0], heads_, q_.shape[2], value_depth_};
  require(dy_.shape == expected, "dy is {}, the attention's output has {} as BNSD", dy.shape, expected);
  require(attention.defined() && attention.count() == dy.count(),
          "attention (the forward result) is missing; pass it as attention_in");
  attention_ = view_of(attention, heads_, "attention");
  require(softmax_max.defined() && softmax_sum.defined() && (softmax_max.count() > 0 || q_.count() == 0) &&
              softmax_max.count() == softmax_sum.count(),
          "softmax_max and softmax_sum of the forward call are missing; pass them on");
  check_statistics();
  check_gradients();
  check_bias_gradient();
}

void FlashAttentionGrad::check_gradients() {
  dq_ = view_of(dq, heads_, "dq");
  dk_ = view_of(dk, kv_heads_, "dk");
  dv_ = view_of(dv, kv_heads_, "dv");
  require(dq_.shape == q_.shape && dk_.shape == k_.shape && dv_.shape == v_.shape,
          "gradients are {}, {}, {}; query, key, value are {}, {}, {}", dq.shape, dk.shape, dv.shape, query.shape,
          key.shape, value.shape);
  dq_rope_ = dk_rope_ = Tensor();
  if (has_rope()) {
    require(
        dq_rope.defined() && dk_rope.defined() && dq_rope.shape == query_rope.shape && dk_rope.shape == key_rope.shape,
        "dq_rope and dk_rope must be {} and {}, as query_rope and key_rope are", query_rope.shape, key_rope.shape);
    dq_rope_ = view_of(dq_rope, heads_, "dq_rope");
    dk_rope_ = view_of(dk_rope, kv_heads_, "dk_rope");
  }
  require(!wants_sink() || (dsink.dtype == DType::kFloat && dsink.shape == sink.shape),
          "dsink is {}; sink is {}, and its gradient must be as it is", dsink, sink);
  of_sink_.assign(wants_sink() ? static_cast<size_t>(sequences_.count() * heads_) : 0, 0.0);
}

void FlashAttentionGrad::check_bias_gradient() const {
  if (!wants_bias()) return;
  require(dpse.dtype == DType::kFloat || dpse.dtype == query.dtype, "dpse is {}; use {}", dpse.dtype, query.dtype);
  const Dims full{q_.shape[0], heads_, q_.shape[2], k_.shape[2]};
  require(alibi_ ? dpse.contiguous() : dpse.shape == full,
          "the gradient of a broadcast pse is not supported; expand pse to {}", full);
}

void FlashAttentionGrad::run() {
  parallel_parts(sequences_.count() * kv_heads_,
                 [&](int64_t part) { run_head(sequences_[part / kv_heads_], part % kv_heads_); });
  clear_rest();
  if (wants_sink()) sum_sink();
  if (wants_bias() && alibi_) {
    // Distances are no parameters: nothing is trained through the rows of one. What reads this gradient is told so.
    const float nan = std::numeric_limits<float>::quiet_NaN();
    converter(DType::kFloat, dpse.dtype)(&nan, 0, dpse.bytes(), 1, dpse.count());
  }
}

// Rows behind the last sequence.
void FlashAttentionGrad::clear_rest() const {
  for (const Tensor* t : {&dq_, &dq_rope_}) {
    if (t->defined() && sequences_.query_rows() < t->shape[2]) clear_rows(*t, sequences_.query_rows());
  }
  for (const Tensor* t : {&dk_, &dk_rope_, &dv_}) {
    if (t->defined() && sequences_.key_rows() < t->shape[2]) clear_rows(*t, sequences_.key_rows());
  }
}

void FlashAttentionGrad::sum_sink() const {
  for (int64_t n = 0; n < heads_; ++n) {
    double total = 0;
    for (int64_t i = 0; i < sequences_.count(); ++i) total += of_sink_[static_cast<size_t>(i * heads_ + n)];
    dsink.as<float>()[n * dsink.strides[0]] = static_cast<float>(total);
  }
}

void FlashAttentionGrad::run_head(const Sequence& s, int64_t kv_head) {
  const Scratch<float> k_buffer(s.keys * depth_), v_buffer(s.keys * value_depth_), dk_sum(s.keys * depth_);
  const Scratch<float> dv_sum(s.keys * value_depth_), dq_sum(kQueryTile * depth_), q_buffer(kQueryTile * depth_);
  const Scratch<float> dy_buffer(kQueryTile * value_depth_), out_buffer(kQueryTile * value_depth_);
  const Scratch<float> probability(kQueryTile * kKeyTile), gradient(kQueryTile * kKeyTile),
      dropped(kQueryTile * kKeyTile);
  // Kept in float32 over all queries and rounded once at the end.
  std::fill_n(dk_sum.data(), s.keys * depth_, 0.0f);
  std::fill_n(dv_sum.data(), s.keys * value_depth_, 0.0f);
  Tile tile{};
  tile.s = s;
  tile.q_buffer = q_buffer;
  tile.dy_buffer = dy_buffer;
  tile.out_buffer = out_buffer;
  tile.probability = probability;
  tile.gradient = gradient;
  tile.dropped = dropped;
  tile.dq = dq_sum;
  // Keys and values are converted once for all tiles of queries, which read them over and over.
  const float* k = load_keys(s, kv_head, 0, s.keys, k_buffer, &tile.ldk);
  const float* v = load_rows(v_, s.batch, kv_head, s.first_key, s.keys, v_buffer, &tile.ldv);
  // All query heads of the group add to the gradients of this one key head.
  for (tile.n = kv_head * group(); tile.n < (kv_head + 1) * group(); ++tile.n) {
    for (int64_t row = 0; row < s.queries; row += kQueryTile) {
      load_tile(tile, row);
      for (tile.col = 0; tile.col < s.keys; tile.col += kKeyTile) {
        tile.cols = std::min(kKeyTile, s.keys - tile.col);
        tile.k = k + tile.col * tile.ldk;
        tile.v = v + tile.col * tile.ldv;
        tile.dk = dk_sum.data() + tile.col * depth_;
        tile.dv = dv_sum.data() + tile.col * value_depth_;
        run_tile(tile);
      }
      if (wants_sink()) add_to_sink(tile);
      store_both(dq_, dq_rope_, s.batch, tile.n, s.first_query + row, tile.rows, tile.dq);
    }
  }
  store_both(dk_, dk_rope_, s.batch, kv_head, s.first_key, s.keys, dk_sum);
  store_rows(dv_, s.batch, kv_head, s.first_key, s.keys, dv_sum, value_depth_);
}

void FlashAttentionGrad::load_tile(Tile& tile, int64_t row) const {
  const Sequence& s = tile.s;
  const int64_t at = s.first_query + row;
  tile.row = row;
  tile.rows = std::min(kQueryTile, s.queries - row);
  tile.q = load_queries(s, tile.n, row, tile.rows, tile.q_buffer, &tile.ldq);
  tile.dy = load_rows(dy_, s.batch, tile.n, at, tile.rows, tile.dy_buffer, &tile.lddy);
  int64_t ldo;
  const float* o = load_rows(attention_, s.batch, tile.n, at, tile.rows, tile.out_buffer, &ldo);
  std::fill_n(tile.dq, tile.rows * depth_, 0.0f);
  for (int64_t r = 0; r < tile.rows; ++r) {
    tile.maximum[r] = *statistic(softmax_max, s, tile.n, row + r);
    tile.sum[r] = *statistic(softmax_sum, s, tile.n, row + r);
    double delta = 0;
    for (int64_t d = 0; d < value_depth_; ++d)
      delta += static_cast<double>(o[r * ldo + d]) * tile.dy[r * tile.lddy + d];
    // delta = sum over keys of p * dp, which equals dy · o: one product of two rows instead of another pass over all
    // tiles. In double: the gradient is a difference from it.
    tile.delta[r] = static_cast<float>(delta);
  }
}

// The sink has a probability and no value: of its score's gradient P * (dP - delta) only -P * delta is left.
void FlashAttentionGrad::add_to_sink(const Tile& tile) {
  double total = 0;
  for (int64_t r = 0; r < tile.rows; ++r) {
    if (tile.sum[r] > 0) total -= std::exp(sink_of(tile.n) - tile.maximum[r]) / tile.sum[r] * tile.delta[r];
  }
  of_sink_[static_cast<size_t>(tile.s.index * heads_ + tile.n)] += total;
}

// With P the probabilities and D what dropout makes of them, O = D V, so
//   dV = D^T dY, dP = dropout(dY V^T), dS = P * (dP - delta), dQ = scale dS K, dK = scale dS^T Q:
// five products a tile with the one that makes the scores.
void FlashAttentionGrad::run_tile(const Tile& t) const {
  score_tile(t.q, t.ldq, t.k, t.ldk, t.s, t.n, t.row, t.rows, t.col, t.cols, t.probability);
  // With the saved maximum and sum every tile has its final probabilities at once: no running softmax here.
  softmax_again(t.probability, t.rows, t.cols, t.maximum, t.sum);
  const float* used = t.probability;
  if (drops()) {
    std::copy_n(t.probability, t.rows * t.cols, t.dropped);
    apply_dropout(t.dropped, t.s, t.n, t.row, t.rows, t.col, t.cols);
    used = t.dropped;
  }
  // dv takes the probabilities that were used, behind dropout; the softmax's own gradient needs them before it.
  add_product(true, false, t.cols, value_depth_, t.rows, 1, used, t.cols, t.dy, t.lddy, 1, t.dv, value_depth_);
  add_product(false, true, t.rows, t.cols, value_depth_, 1, t.dy, t.lddy, t.v, t.ldv, 0, t.gradient, t.cols);
  apply_dropout(t.gradient, t.s, t.n, t.row, t.rows, t.col, t.cols);
  softmax_gradient(t.gradient, t.probability, t.rows, t.cols, t.delta);
  auto factor = static_cast<float>(scale);
  if (scales_bias()) {  // the bias was scaled as the product was: its gradient takes the factor, too
    for (int64_t i = 0; i < t.rows * t.cols; ++i) t.gradient[i] *= factor;
    factor = 1;
  }
  if (wants_bias() && !alibi_) {
    Tensor rows = dpse;
    rows.offset += t.col * dpse.strides[3];
    rows.shape[3] = t.cols;
    store_rows(rows, t.s.batch, t.n, t.row, t.rows, t.gradient, t.cols);
  }
  add_product(false, false, t.rows, depth_, t.cols, factor, t.gradient, t.cols, t.k, t.ldk, 1, t.dq, depth_);
  add_product(true, false, t.cols, depth_, t.rows, factor, t.gradient, t.cols, t.q, t.ldq, 1, t.dk, depth_);
}

std::vector<Field> backward_fields() {
  auto fields = attention_fields<FlashAttentionGrad>();
  for (const Field& f :
       {in<&FlashAttentionGrad::dy>("dy"), in<&FlashAttentionGrad::softmax_max>("softmax_max"),
        in<&FlashAttentionGrad::softmax_sum>("softmax_sum"), optional<&FlashAttentionGrad::softmax>("softmax"),
        in<&FlashAttentionGrad::attention>("attention"), out<&FlashAttentionGrad::dq>("dq"),
        out<&FlashAttentionGrad::dk>("dk"), out<&FlashAttentionGrad::dv>("dv"),
        optional_out<&FlashAttentionGrad::dq_rope>("dq_rope"), optional_out<&FlashAttentionGrad::dk_rope>("dk_rope"),
        optional_out<&FlashAttentionGrad::dpse>("dpse"), optional_out<&FlashAttentionGrad::dsink>("dsink")}) {
    fields.push_back(f);
  }
  return fields;
}
const Registration register_flash_grad("flash_attention_grad", "attention", backward_fields(),
                                       &make<FlashAttentionGrad>);

}  // namespace
}  // namespace npu::ops
