// SPDX-License-Identifier: Apache-2.0
// Joins what attention gave over two parts of the keys, as ranks in a ring do: results and the maximum and sum of each
// row's softmax.
#include <algorithm>
#include <cmath>

#include "base/thread_pool.h"
#include "ops/attention/layout.h"
#include "ops/attention/sequence.h"
#include "ops/attention/tile_kernel.h"
#include "ops/operator.h"
#include "ops/scratch.h"

namespace npu::ops {
namespace {

constexpr int64_t kCopies = 8;  ///< of each number of a statistic

/// Results are [S, B, N * D] (SBH) with statistics [B, N, S, 8], or [T, N, D] (TND) with [T, N, 8]: these ordered alike
/// where input_softmax_layout is TND, else as packed attention leaves them, each sequence a block [N, S, 8]. Where a
/// row has no key in either part its result is 0.
struct RingUpdate final : Operator {
  Tensor prev_attn_out, prev_softmax_max, prev_softmax_sum, cur_attn_out, cur_softmax_max, cur_softmax_sum;
  Tensor actual_seq_qlen, attn_out, softmax_max, softmax_sum;
  std::string input_layout, input_softmax_layout;

  void prepare() override;
  void run() override;
  int64_t cost() const override { return 1000 + prev_attn_out.count() + 8 * prev_softmax_max.count(); }

 private:
  Tensor view_of(const Tensor& t, const char* name) const;
  void check_statistics() const;
  void find_sequences();
  Tensor rows_of(const Tensor& statistic, const Sequence& s) const;
  void join(const Sequence& s, int64_t head, int64_t row) const;
  bool packed() const { return input_layout == "TND"; }
  bool in_blocks() const { return packed() && input_softmax_layout != "TND"; }
  int64_t heads_ = 0;
  Tensor prev_, cur_, out_;  ///< [B, N, S, D]
  Sequences sequences_;
};

Tensor RingUpdate::view_of(const Tensor& t, const char* name) const {
  return packed() ? packed_view(t, name) : head_view(t, input_layout, heads_, name);
}

void RingUpdate::prepare() {
  require(packed() || input_layout == "SBH", "inputLayout is {}; it is SBH or TND", input_layout);
  require(input_softmax_layout.empty() || input_softmax_layout == "SBH" || input_softmax_layout == "TND",
          "inputSoftmaxLayout is {}; it is empty, SBH or TND", input_softmax_layout);
  const DType dtype = prev_attn_out.dtype;
  require(dtype == DType::kFloat || dtype == DType::kHalf || dtype == DType::kBFloat16,
          "prevAttnOut is {}; it must be float32, float16 or bfloat16", dtype);
  require(cur_attn_out.dtype == dtype && cur_attn_out.shape == prev_attn_out.shape && attn_out.dtype == dtype &&
              attn_out.shape == prev_attn_out.shape,
          "prevAttnOut is {}, curAttnOut {}, attnOut {}: they must be alike", prev_attn_out, cur_attn_out, attn_out);
  const size_t axis = 1;  // of heads, in both layouts
  require(prev_softmax_max.rank() == (packed() ? 3u : 4u), "prevSoftmaxMax is {}; layout {} wants {} dimensions",
          prev_softmax_max, input_layout, packed() ? 3 : 4);
  heads_ = prev_softmax_max.shape[axis];
  prev_ = view_of(prev_attn_out, "prevAttnOut");
  cur_ = view_of(cur_attn_out, "curAttnOut");
  out_ = view_of(attn_out, "attnOut");
  check_statistics();
  sequences_.in_batch(prev_.shape[0], prev_.shape[2], prev_.shape[2]);
}

void RingUpdate::check_statistics() const {
  const Dims shape =
      packed() ? Dims{prev_.shape[2], prev_.shape[1], kCopies} : Dims{prev_.shape[0], heads_, prev_.shape[2], kCopies};
  for (const Tensor* t :
       {&prev_softmax_max, &prev_softmax_sum, &cur_softmax_max, &cur_softmax_sum, &softmax_max, &softmax_sum}) {
    require(t->dtype == DType::kFloat && t->shape == shape,
            "a maximum or sum of softmax is {}; all of them must be float32 {}", *t, shape);
    require(!in_blocks() || t->contiguous(),
            "a maximum or sum of softmax is not contiguous; without inputSoftmaxLayout "
            "TND it must be");
  }
  require(!in_blocks() || (actual_seq_qlen.defined() && actual_seq_qlen.dtype == DType::kInt64 &&
                           actual_seq_qlen.rank() == 1 && actual_seq_qlen.count() > 0),
          "actualSeqQlen is missing or no int64 list; layout TND needs where each sequence ends");
}

// The ends lie in device memory and are known only now: those out of order or range are cut to what there is.
void RingUpdate::find_sequences() {
  std::vector<int64_t> ends;
  int64_t last = 0;
  for (int64_t i = 0; i < actual_seq_qlen.count(); ++i) {
    last = std::clamp(actual_seq_qlen.as<int64_t>()[i * actual_seq_qlen.strides[0]], last, prev_.shape[2]);
    ends.push_back(last);
  }
  ends.push_back(prev_.shape[2]);
  sequences_.packed(ends, ends, prev_.shape[2], prev_.shape[2]);
}

// Of one sequence, as [B, N, S, 8].
Tensor RingUpdate::rows_of(const Tensor& statistic, const Sequence& s) const {
  if (!packed()) return statistic;
  if (!in_blocks()) return packed_view(statistic, "");
  Tensor rows = statistic.view({1, heads_, s.queries, kCopies}, {0, s.queries * kCopies, kCopies, 1});
  rows.offset += s.first_query * heads_ * kCopies;
  return rows;
}

/// The larger maximum and the sum relative to it; what each part's own sum becomes in it.
struct Joined {
  float maximum, sum, prev, cur;
};
Joined joined(float prev_max, float prev_sum, float cur_max, float cur_sum) {
  const float top = std::max(prev_max, cur_max);
  // A part without a key has the maximum minus infinity, and nothing to give.
  const float prev = std::isinf(prev_max) && prev_max < 0 ? 0.0f : prev_sum * std::exp(prev_max - top);
  const float cur = std::isinf(cur_max) && cur_max < 0 ? 0.0f : cur_sum * std::exp(cur_max - top);
  return {top, prev + cur, prev, cur};
}

void RingUpdate::join(const Sequence& s, int64_t head, int64_t row) const {
  const int64_t rows = std::min(kQueryTile, s.queries - row), depth = prev_.shape[3], at = s.first_query + row;
  // Blocks begin with their sequence; the other statistics are numbered as the results are.
  const int64_t own = in_blocks() ? row : at;
  const Scratch<float> prev(rows * depth), cur(rows * depth), numbers(4 * rows * kCopies);
  float* const part[] = {numbers, numbers + rows * kCopies, numbers + 2 * rows * kCopies, numbers + 3 * rows * kCopies};
  const Tensor* const from[] = {&prev_softmax_max, &prev_softmax_sum, &cur_softmax_max, &cur_softmax_sum};
  for (int i = 0; i < 4; ++i) copy_rows(rows_of(*from[i], s), s.batch, head, own, rows, part[i], kCopies);
  copy_rows(prev_, s.batch, head, at, rows, prev, depth);
  copy_rows(cur_, s.batch, head, at, rows, cur, depth);
  for (int64_t r = 0; r < rows; ++r) {
    float a = 0, b = 0;
    for (int64_t i = r * kCopies + kCopies - 1; i >= r * kCopies; --i) {
      const Joined j = joined(part[0][i], part[1][i], part[2][i], part[3][i]);
      part[0][i] = j.maximum;
      part[1][i] = j.sum;
      a = j.sum == 0 ? 0.0f : j.prev / j.sum;
      b = j.sum == 0 ? 0.0f : j.cur / j.sum;
    }
    // The first copy, taken last, says how much of each result is in the joined one.
    for (int64_t d = r * depth; d < (r + 1) * depth; ++d) prev[d] = prev[d] * a + cur[d] * b;
  }
  store_rows(out_, s.batch, head, at, rows, prev, depth);
  store_rows(rows_of(softmax_max, s), s.batch, head, own, rows, part[0], kCopies);
  store_rows(rows_of(softmax_sum, s), s.batch, head, own, rows, part[1], kCopies);
}

void RingUpdate::run() {
  if (in_blocks()) find_sequences();
  parallel_parts(sequences_.places(heads_), [&](int64_t part) {
    const auto [sequence, head, row] = sequences_.place(part, heads_);
    join(sequence, head, row);
  });
}

using R = RingUpdate;
NPU_OPERATOR(R, "ring_attention_update", "attention", in<&R::prev_attn_out>("prev_attn_out"),
             in<&R::prev_softmax_max>("prev_softmax_max"), in<&R::prev_softmax_sum>("prev_softmax_sum"),
             in<&R::cur_attn_out>("cur_attn_out"), in<&R::cur_softmax_max>("cur_softmax_max"),
             in<&R::cur_softmax_sum>("cur_softmax_sum"), optional<&R::actual_seq_qlen>("actual_seq_qlen"),
             attr<&R::input_layout>("input_layout"), attr<&R::input_softmax_layout>("input_softmax_layout"),
             out<&R::attn_out>("attn_out"), out<&R::softmax_max>("softmax_max"), out<&R::softmax_sum>("softmax_sum"));

}  // namespace
}  // namespace npu::ops
