// SPDX-License-Identifier: Apache-2.0
// What attention within windows (Swin) and torch's own multi-head attention do beside their products: the softmax of
// scores with a mask for each window and a bias for each head, and the split of one projection into heads.
#include <cmath>

#include "ops/operator.h"
#include "ops/scratch.h"
#include "ops/vector/loop/along_dim.h"

namespace npu::ops {
namespace {

/// out = softmax(scale * x + mask + bias) along the last axis of x [batch, windows, heads, s1, s2], or with batch and
/// windows in one axis; mask is [windows, s1, s2], bias [heads, s1, s2], each with any axes of size 1 beside these.
struct WindowSoftmax final : Operator {
  Tensor x, mask, bias, out;
  double scale = 1;

  void prepare() override {
    require(x.rank() == 4 || x.rank() == 5,
            "x is {}; it must be [batch, windows, heads, s1, s2], or with batch and "
            "windows in one axis",
            x);
    check_shape(out, "out", x.shape);
    const size_t heads = x.rank() - 3;
    const Tensor m = mask.defined() ? folded("attenMask", mask) : Tensor();
    const int64_t windows = mask.defined() ? m.shape[0] : 1;
    require(windows > 0 && (x.rank() == 4 ? x.shape[0] % windows == 0 : !mask.defined() || x.shape[1] == windows),
            "attenMask is {}, x is {}: the windows do not fit", mask, x);
    const Dims shape{x.rank() == 5 ? x.shape[0] : x.shape[0] / windows, x.rank() == 5 ? x.shape[1] : windows,
                     x.shape[heads], x.shape[heads + 1], x.shape[heads + 2]};
    from_ = Rows(split(x, shape), 4, DType::kFloat), to_ = Rows(split(out, shape), 4, DType::kFloat);
    const Tensor b = folded("relativePosBias", bias);
    require(b.shape[0] == shape[2], "relativePosBias is {}, x is {}: the heads do not fit", bias, x);
    bias_ = spread(b, {0, 0, b.strides[0], b.strides[1], b.strides[2]}, shape);
    if (mask.defined()) mask_ = spread(m, {0, m.strides[0], 0, m.strides[1], m.strides[2]}, shape);
  }
  void run() override {
    for_rows(from_, [this](int64_t begin, int64_t end) {
      const int64_t n = from_.length();
      const Scratch<float> given(n), added(n), values(n), made(n);
      for (int64_t row = begin; row < end; ++row) {
        const auto* scores = static_cast<const float*>(from_.load(row, given));
        for (int64_t i = 0; i < n; ++i) values[i] = static_cast<float>(scale) * scores[i];
        if (mask.defined()) add(static_cast<const float*>(mask_.load(row, added)), values);
        add(static_cast<const float*>(bias_.load(row, added)), values);
        softmax(values, static_cast<float*>(to_.target(row, made)));
        to_.store(row, made);
      }
    });
  }
  int64_t cost() const override { return 500 + 8 * x.count(); }

 private:
  /// [first, s1, s2] without the axes of size 1 around the first.
  Tensor folded(const char* name, const Tensor& t) const {
    const size_t s = x.rank() - 2;
    require(t.rank() >= 3 && t.rank() <= 5 && t.shape[t.rank() - 2] == x.shape[s] && t.shape.back() == x.shape[s + 1],
            "{} is {}, x is {}: the last two sizes must be equal", name, t, x);
    Tensor out_view = t.view(t.shape, t.strides);
    for (size_t i = t.rank() - 2; i-- > 0;) {
      if (out_view.rank() == 3) break;
      if (out_view.shape[i] != 1) continue;
      out_view.shape.erase(i), out_view.strides.erase(i);
    }
    require(out_view.rank() == 3, "{} is {}; one axis before the last two may be other than 1", name, t);
    return out_view;
  }
  static Tensor split(const Tensor& t, const Dims& shape) {
    Dims strides = t.strides;
    if (t.rank() == 4) strides.insert(0, shape[1] * t.strides[0]);
    return t.view(shape, strides);
  }
  static Rows spread(const Tensor& t, const Dims& strides, const Dims& shape) {
    return Rows(t.view(shape, strides), 4, DType::kFloat);
  }
  void add(const float* more, float* values) const {
    for (int64_t i = 0; i < from_.length(); ++i) values[i] += more[i];
  }
  void softmax(const float* values, float* y) const {
    const int64_t n = from_.length();
    float top = -HUGE_VALF;
    for (int64_t i = 0; i < n; ++i) top = std::max(top, values[i]);
    double sum = 0;
    // In double, so that the sum of long rows is as exact as its terms.
    for (int64_t i = 0; i < n; ++i) sum += static_cast<double>(y[i] = std::exp(values[i] - top));
    for (int64_t i = 0; i < n; ++i) y[i] = static_cast<float>(static_cast<double>(y[i]) / sum);
  }

  Rows from_, to_, mask_, bias_;
};

/// q, k and v [batch, heads, time, size] from qkv [batch, time, 3 * heads * size] plus its bias; q by 1 / sqrt(size).
struct SplitHeads final : Operator {
  Tensor qkv, qkv_bias, q, k, v;
  int64_t num_heads = 1;

  void prepare() override {
    require(qkv.rank() == 3 && num_heads > 0 && qkv.shape[2] % (3 * num_heads) == 0,
            "qkv is {}, num_heads is {}; qkv must be [batch, time, 3 * heads * size]", qkv, num_heads);
    require(qkv_bias.shape == Dims{qkv.shape[2]}, "qkv_bias is {}; it has one number for each of the last axis of qkv",
            qkv_bias);
    const int64_t size = qkv.shape[2] / (3 * num_heads), step = qkv.strides[2];
    factor_ = 1 / std::sqrt(static_cast<double>(size));
    size_t part = 0;
    for (Tensor* t : {&q, &k, &v}) {
      check_shape(*t, "an output", {qkv.shape[0], num_heads, qkv.shape[1], size});
      const int64_t first = static_cast<int64_t>(part) * num_heads * size;
      Tensor from = qkv.view(t->shape, {qkv.strides[0], size * step, qkv.strides[1], step});
      from.offset += first * step;
      Tensor more = qkv_bias.view(t->shape, {0, size * qkv_bias.strides[0], 0, qkv_bias.strides[0]});
      more.offset += first * qkv_bias.strides[0];
      parts_[part++] = {Rows(from, 3, DType::kFloat), Rows(more, 3, DType::kFloat), Rows(*t, 3, DType::kFloat)};
    }
  }
  void run() override {
    for (size_t p = 0; p < 3; ++p) {
      const Part& part = parts_[p];
      const auto factor = static_cast<float>(p == 0 ? factor_ : 1);
      for_rows(part.to, [&](int64_t begin, int64_t end) {
        const int64_t n = part.to.length();
        const Scratch<float> given(n), added(n), made(n);
        for (int64_t row = begin; row < end; ++row) {
          const auto* x = static_cast<const float*>(part.from.load(row, given));
          const auto* more = static_cast<const float*>(part.bias.load(row, added));
          auto* y = static_cast<float*>(part.to.target(row, made));
          for (int64_t i = 0; i < n; ++i) y[i] = (x[i] + more[i]) * factor;
          part.to.store(row, y);
        }
      });
    }
  }
  int64_t cost() const override { return 500 + 2 * qkv.count(); }

 private:
  struct Part {
    Rows from, bias, to;
  };
  Part parts_[3];
  double factor_ = 1;
};

NPU_OPERATOR(WindowSoftmax, "window_softmax", "attention", in<&WindowSoftmax::x>("x"),
             optional<&WindowSoftmax::mask>("mask"), in<&WindowSoftmax::bias>("bias"),
             attr<&WindowSoftmax::scale>("scale"), out<&WindowSoftmax::out>("out"));
NPU_OPERATOR(SplitHeads, "split_heads", "attention", in<&SplitHeads::qkv>("qkv"), in<&SplitHeads::qkv_bias>("qkv_bias"),
             attr<&SplitHeads::num_heads>("num_heads"), out<&SplitHeads::q>("q"), out<&SplitHeads::k>("k"),
             out<&SplitHeads::v>("v"));

}  // namespace
}  // namespace npu::ops
