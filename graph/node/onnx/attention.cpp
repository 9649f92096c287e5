// SPDX-License-Identifier: Apache-2.0
// Attention of ONNX (opset 23 and later): softmax(softcap(Q · K^T · scale) + bias) · V. Both products are calls of
// matmul over all heads; between them one pass over the scores adds the bias and takes the softmax. Queries that share
// a head of keys are rows of one product, so keys and values are never repeated. Memory: one matrix of scores, in the
// type that is computed in (float, or double for double).
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/thread_pool.h"
#include "graph/node/onnx/floats.h"

namespace npu::graph::onnx {
namespace {

constexpr size_t kQuery = 0, kKey = 1, kValue = 2, kMask = 3, kPastKey = 4, kPastValue = 5, kLengths = 6;
constexpr size_t kPresentKey = 1, kPresentValue = 2, kScores = 3;

/// What the output of the scores holds.
enum ScoreMode : int64_t { kProduct = 0, kCapped = 1, kBiased = 2, kProbabilities = 3 };

struct Heads {
  int64_t batch = 0, heads = 0, shared = 0;  ///< `shared`: heads of keys and values
  int64_t queries = 0, past = 0, keys = 0;   ///< `keys`: with those of the past
  int64_t size = 0, value_size = 0;
  double scale = 1, cap = 0;
  bool causal = false;
  int64_t left = -1, right = -1;  ///< how far a query sees back and ahead; -1: without an end
  int64_t mode = kProduct;
  int64_t rows() const { return batch * heads * queries; }
};

/// [batch, heads, positions, size] of an input of 4 axes, or of 3: [batch, positions, heads · size].
Planned by_heads(Lowering& l, size_t i, const char* name, const char* count) {
  const Planned in = l.input(at(l, i));
  const Dims& shape = in.shape();
  require(shape.size() == 3 || shape.size() == 4, "{} is {}; it must have 3 or 4 axes", name, shape);
  if (shape.size() == 4) return in;
  const int64_t heads = int_attribute(l, count, 0);
  require(heads > 0 && shape[2] % heads == 0, "{} is {}, {} is {}: its last axis does not make that many heads", name,
          shape, count, heads);
  return permuted(reshaped(in_rows(l, in), {shape[0], shape[1], heads, shape[2] / heads}), {0, 2, 1, 3});
}

/// The new keys or values behind those of the past; output `o`, where it is wanted.
Planned present(Lowering& l, const Planned& fresh, size_t past, size_t o) {
  const bool joined = has(l, past);
  if (!joined && !wants(l, o)) return fresh;
  Dims shape = fresh.shape();
  Dims wanted = shape;
  if (joined) {
    const Dims& before = l.shape(at(l, past));
    if (before.size() == 4) wanted[2] = before[2];
    require(before == wanted, "the past of keys or values is {}; it must be {} with any number of positions", before,
            shape);
    shape[2] += before[2];
  }
  const Planned out = wants(l, o) ? l.make(o, fresh.dtype(), shape) : l.scratch(fresh.dtype(), shape);
  const int64_t before = joined ? wanted[2] : 0;
  if (joined && count_of(wanted) > 0) copy(l, l.input(at(l, past)), narrowed(out, 2, 0, before));
  if (fresh.view.count() > 0) copy(l, fresh, narrowed(out, 2, before, fresh.shape()[2]));
  return out;
}

Heads describe(const Lowering& l, const Planned& q, const Planned& k, const Planned& v) {
  const Dims &query = q.shape(), &key = k.shape(), &value = v.shape();
  require(key[0] == query[0] && value[0] == query[0] && key[3] == query[3] && key[1] == value[1] && key[2] == value[2],
          "by heads Q is {}, K is {}, V is {}: they do not fit together", query, key, value);
  require(key[1] > 0 && query[1] % key[1] == 0, "Q has {} heads, K has {}: the first must be a multiple", query[1],
          key[1]);
  require(has(l, kPastKey) == has(l, kPastValue), "past_key and past_value must be given together");
  require(!has(l, kLengths) || !has(l, kPastKey), "nonpad_kv_seqlen cannot be given with past_key");
  Heads h;
  h.batch = query[0], h.heads = query[1], h.shared = key[1], h.queries = query[2];
  h.past = has(l, kPastKey) ? l.shape(at(l, kPastKey))[2] : 0, h.keys = h.past + key[2];
  h.size = query[3], h.value_size = value[3];
  h.scale = float_attribute(l, "scale", 1 / std::sqrt(static_cast<double>(std::max<int64_t>(h.size, 1))));
  h.cap = float_attribute(l, "softcap", 0), h.causal = int_attribute(l, "is_causal", 0) != 0;
  h.left = int_attribute(l, "left_window_size", -1), h.right = int_attribute(l, "right_window_size", -1);
  require(h.left >= -1 && h.right >= -1, "left_window_size is {}, right_window_size {}; -1 is the least", h.left,
          h.right);
  h.mode = int_attribute(l, "qk_matmul_output_mode", kProduct);
  require(h.mode >= kProduct && h.mode <= kProbabilities, "qk_matmul_output_mode is {}; it must be 0 to 3", h.mode);
  return h;
}

/// The mask as [batch, heads, queries, its own last axis]: what it leaves out behind is masked.
Planned mask_of(Lowering& l, const Heads& h, DType slot) {
  if (!has(l, kMask)) return {};
  const Planned in = l.input(at(l, kMask));
  const Dims& shape = in.shape();
  require(!shape.empty() && shape.size() <= 4 && shape.back() <= h.keys &&
              (in.dtype() == DType::kBool || is_floating(in.dtype())),
          "attn_mask is {} of {}; it must be of bool or numbers and broadcast to {}x{}x{}x{}", in.dtype(), shape,
          h.batch, h.heads, h.queries, h.keys);
  return expanded(rows_of(l, in, slot), {h.batch, h.heads, h.queries, shape.back()});
}

/// What one pass over the scores reads and writes; those that are left out have no slot.
struct Pass {
  Planned scores, mask, lengths, shown;
  bool truths = false;  ///< the mask selects the keys that count; otherwise it is added
};

/// Keys that a query may see: [first, end).
struct Span {
  int64_t first, end;
};

template <class T>
class Softmax {
 public:
  Softmax(const Heads& h, const Tensor& mask, bool truths, const int64_t* lengths)
      : h_(h), mask_(mask), truths_(truths), lengths_(lengths) {}

  /// Row `r` of the scores becomes probabilities; `shown` is the same row of the output of scores, or null.
  void row(int64_t r, T* scores, T* shown) const {
    const int64_t b = r / (h_.heads * h_.queries), head = r / h_.queries % h_.heads, i = r % h_.queries;
    if (h_.mode == kProduct) show(scores, shown);
    cap(scores);
    if (h_.mode == kCapped) show(scores, shown);
    add_bias(b, head, i, scores);
    if (h_.mode == kBiased) show(scores, shown);
    normalise(scores);
    if (h_.mode == kProbabilities) show(scores, shown);
  }

 private:
  void show(const T* scores, T* shown) const {
    if (shown != nullptr) std::copy_n(scores, h_.keys, shown);
  }
  void cap(T* scores) const {
    if (h_.cap <= 0) return;
    const T most = static_cast<T>(h_.cap);
    for (int64_t j = 0; j < h_.keys; ++j) scores[j] = most * std::tanh(scores[j] / most);
  }
  /// Query `i` stands at position i + offset among the keys.
  Span visible(int64_t b, int64_t i) const {
    const int64_t known = lengths_ == nullptr ? h_.keys : std::clamp<int64_t>(lengths_[b], 0, h_.keys);
    const int64_t offset = lengths_ == nullptr ? h_.past : lengths_[b] - h_.queries, place = i + offset;
    Span out{0, known};
    if (h_.causal) out.end = std::min(out.end, place + 1);
    if (h_.right >= 0) out.end = std::min(out.end, place + h_.right + 1);
    if (h_.left >= 0) out.first = std::max(out.first, place - h_.left);
    return out;
  }
  void add_bias(int64_t b, int64_t head, int64_t i, T* scores) const {
    constexpr T kNever = -std::numeric_limits<T>::infinity();
    const Span seen = visible(b, i);
    const int64_t masked = mask_.defined() ? mask_.shape[3] : h_.keys;
    const T* mask = !mask_.defined()
                        ? nullptr
                        : mask_.as<T>() + b * mask_.strides[0] + head * mask_.strides[1] + i * mask_.strides[2];
    for (int64_t j = 0; j < h_.keys; ++j) {
      if (j < seen.first || j >= seen.end || j >= masked) {
        scores[j] = kNever;
      } else if (mask != nullptr) {
        const T value = mask[j * mask_.strides[3]];
        scores[j] = !truths_ ? scores[j] + value : value != 0 ? scores[j] : kNever;
      }
    }
  }
  /// A row without any key becomes zeros.
  void normalise(T* scores) const {
    constexpr T kNever = -std::numeric_limits<T>::infinity();
    T largest = kNever;
    for (int64_t j = 0; j < h_.keys; ++j) largest = scores[j] > largest || std::isnan(scores[j]) ? scores[j] : largest;
    T sum = 0;
    for (int64_t j = 0; j < h_.keys; ++j) sum += scores[j] = largest == kNever ? T{0} : std::exp(scores[j] - largest);
    for (int64_t j = 0; j < h_.keys; ++j) scores[j] = sum == 0 ? T{0} : scores[j] / sum;
  }

  const Heads& h_;
  const Tensor mask_;
  const bool truths_;
  const int64_t* const lengths_;
};

void take_softmax(Lowering& l, const Heads& h, const Pass& p, DType slot) {
  std::vector<Planned> used{p.scores};
  for (const Planned& planned : {p.mask, p.lengths, p.shown})
    if (planned.slot >= 0) used.push_back(planned);
  l.run(used, [=](Frame& frame) {
    in_slot(slot, [&](auto zero) {
      using T = decltype(zero);
      const auto* lengths = p.lengths.slot < 0 ? nullptr : frame.tensor(p.lengths).as<int64_t>();
      const Softmax<T> softmax(h, p.mask.slot < 0 ? Tensor{} : frame.tensor(p.mask), p.truths, lengths);
      T* scores = frame.tensor(p.scores).as<T>();
      T* shown = p.shown.slot < 0 ? nullptr : frame.tensor(p.shown).as<T>();
      parallel_parts(h.batch * h.heads, [&](int64_t part) {
        for (int64_t r = part * h.queries; r < (part + 1) * h.queries; ++r)
          softmax.row(r, scores + r * h.keys, shown == nullptr ? nullptr : shown + r * h.keys);
      });
    });
  });
}

/// Q · scale · K^T for all heads, [batch, shared, heads / shared · queries, keys].
Planned scores_of(Lowering& l, const Heads& h, const Planned& q, const Planned& k, DType slot) {
  const int64_t rows = h.heads / h.shared * h.queries;
  const Planned query = l.scratch(slot, q.shape()), key = rows_of(l, k, slot);
  const Planned scores = l.scratch(slot, {h.batch, h.shared, rows, h.keys});
  if (scores.view.count() == 0) return scores;
  copy(l, q, query);
  change(l, "mul", query, Scalar(h.scale));
  l.call("matmul")
      .set("self", reshaped(query, {h.batch, h.shared, rows, h.size}))
      .set("mat2", permuted(key, {0, 1, 3, 2}))
      .set("out", scores);
  return scores;
}

void attention(Lowering& l) {
  require_floats(l, 0);
  const Planned q = by_heads(l, kQuery, "Q", "q_num_heads"), k = by_heads(l, kKey, "K", "kv_num_heads"),
                v = by_heads(l, kValue, "V", "kv_num_heads");
  const Heads h = describe(l, q, k, v);
  const DType slot = slot_of(l.dtype(0));
  const Planned keys = present(l, k, kPastKey, kPresentKey), values = present(l, v, kPastValue, kPresentValue);
  const bool flat = l.shape(0).size() == 3;
  const Planned y =
      l.make(0, l.dtype(0),
             flat ? Dims{h.batch, h.queries, h.heads * h.value_size} : Dims{h.batch, h.heads, h.queries, h.value_size});
  const Dims all{h.batch, h.heads, h.queries, h.keys};
  std::optional<Result> shown;
  if (wants(l, kScores)) shown = result(l, kScores, l.dtype(0), all, slot);
  Pass pass{scores_of(l, h, q, keys, slot), mask_of(l, h, slot), {}, shown ? shown->rows : Planned{}};
  pass.truths = has(l, kMask) && l.dtype(at(l, kMask)) == DType::kBool;
  if (has(l, kLengths)) {
    require(l.shape(at(l, kLengths)) == Dims{h.batch}, "nonpad_kv_seqlen is {}; it needs one number for each of {}",
            l.shape(at(l, kLengths)), h.batch);
    pass.lengths = rows_of(l, l.input(at(l, kLengths)), DType::kInt64);
  }
  if (h.rows() > 0 && h.keys > 0) {
    take_softmax(l, h, pass, slot);
    if (shown) shown->store(l);
  }
  if (y.view.count() == 0) return;
  const Planned out = l.scratch(slot, {h.batch, h.heads, h.queries, h.value_size});
  if (h.keys == 0) {
    fill(l, out, Scalar(0));
  } else {
    const Planned rows = rows_of(l, values, slot);
    l.call("matmul")
        .set("self", pass.scores)
        .set("mat2", rows)
        .set("out", reshaped(out, {h.batch, h.shared, h.heads / h.shared * h.queries, h.value_size}));
  }
  const Planned place = flat ? permuted(reshaped(y, {h.batch, h.queries, h.heads, h.value_size}), {0, 2, 1, 3}) : y;
  copy(l, out, place);
}

NPU_NODE("ai.onnx::Attention", attention);

}  // namespace
}  // namespace npu::graph::onnx
