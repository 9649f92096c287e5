// SPDX-License-Identifier: Apache-2.0
// embedding_dense_backward: out[index[i]] += grad[i], in the order of i. embedding_renorm: rows of self that index
// names are scaled down to max_norm. one_hot: on where the class is, off elsewhere.
#include "ops/index/writing.h"
#include "ops/vector/loop/along_dim.h"
#include "ops/vector/reduction/p_norm.h"

namespace npu::ops {
namespace {

struct EmbeddingDenseBackward final : Writing {
  Tensor grad, indices;
  int64_t num_weights = 0;
  int64_t padding_idx = -1;
  bool scale_grad_by_freq = false;

  void prepare() override {
    require(grad.rank() == indices.rank() + 1, "grad is {}, indices is {}; grad has one dimension more", grad, indices);
    const int64_t width = grad.shape.back();
    check_shape(out, "out", {num_weights, width});
    // Halves are added up in float32 and rounded once, as a frequent word adds many rows.
    const Tensor& target = begin_with(Scalar(0), sum_buffer(out.dtype));
    Dims expected = indices.shape;
    expected.push_back(width);
    check_shape(grad, "grad", expected);
    // The rows of target are named by index, so their axes have stride 0 here (indexed.h).
    Dims strides(indices.rank(), 0);
    strides.push_back(target.strides[1]);
    offsets.plan(indices.shape, {{indices, num_weights, target.strides[0], false, "indices"}});
    move.plan(IndexedMode::kAdd, grad, target.view(grad.shape, strides), indices.shape, 0);
  }

 private:
  void after(const std::vector<int64_t>& at, const Tensor& target) override {
    // A row that stands for padding has no gradient. Cleared after the sum and not left out of it, which keeps the
    // sum's loop free of a test.
    if (padding_idx >= 0 && padding_idx < num_weights) scale_row(target, padding_idx, Scalar(0));
    if (!scale_grad_by_freq || target.strides[0] == 0) return;
    std::vector<int64_t> counts(static_cast<size_t>(num_weights));
    for (const int64_t offset : at) ++counts[static_cast<size_t>(offset / target.strides[0])];
    for (int64_t row = 0; row < num_weights; ++row) {
      const int64_t n = counts[static_cast<size_t>(row)];
      if (n > 1 && row != padding_idx) scale_row(target, row, Scalar(1.0 / static_cast<double>(n)));
    }
  }
  static void scale_row(const Tensor& target, int64_t row, const Scalar& factor) {
    visit_dtype(target.dtype, [&](auto t) {
      using T = decltype(t);
      if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
        T* x = target.as<T>() + row * target.strides[0];
        const auto f = static_cast<T>(factor.to_double());
        for (int64_t i = 0; i < target.shape[1]; ++i)
          // Set to 0, not multiplied: the sum may be infinite or NaN.
          x[i * target.strides[1]] = f == 0 ? T(0) : x[i * target.strides[1]] * f;
      }
    });
  }
};

struct EmbeddingRenorm final : Operator {
  Tensor self, indices;
  double max_norm = 1, norm_type = 2;
  IndexOffsets offsets;
  Rows rows;

  void prepare() override {
    require(self.rank() == 2, "self is {}; an embedding table has 2 dimensions", self);
    require(norm_type >= 0, "norm_type is {}; it must not be negative", norm_type);
    offsets.plan(indices.shape, {{indices, self.shape[0], 1, false, "indices"}});
    rows = Rows(self, 1, DType::kDouble);
  }
  void run() override {
    std::vector<int64_t> touched = offsets.read();
    // Each row once, however often it is named: the norm is that of the row before the call.
    std::sort(touched.begin(), touched.end());
    touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
    std::vector<double> buffer(static_cast<size_t>(rows.length()));
    for (const int64_t row : touched) {
      const auto* x = static_cast<const double*>(rows.load(row, buffer.data()));
      const double norm = p_norm(x, rows.length(), norm_type);
      if (!(norm > max_norm)) continue;  // NaN is not above it, as in torch
      auto* to = static_cast<double*>(rows.target(row, buffer.data()));
      // torch's own constant, which keeps the quotient from rounding the norm above max_norm.
      for (int64_t i = 0; i < rows.length(); ++i) to[i] = x[i] * (max_norm / (norm + 1e-7));
      rows.store(row, to);
    }
  }
  int64_t cost() const override { return 500 + 3 * count_of(offsets.shape()) * rows.length(); }
};

struct OneHot final : Writing {
  Tensor on, off;
  int64_t depth = 0;
  int64_t axis = -1;
  Tensor hot;

  void prepare() override {
    require(depth >= 0, "depth is {}; the number of classes is not negative", depth);
    const size_t at = wrap_dim(axis, self.rank() + 1);
    Dims expected = self.shape;
    expected.insert(at, depth);
    check_shape(out, "out", expected);
    for (const Tensor* t : {&on, &off}) {
      require(!t->defined() || (t->count() == 1 && converter(t->dtype, out.dtype) != nullptr),
              "{} is no single value for out {}", *t, out);
    }
    const Tensor& target = begin_with(Scalar(0));
    Tensor view = target;
    view.shape.erase(at);
    view.strides.erase(at);
    offsets.plan(self.shape, {{self, depth, target.strides[at], false, "self"}});
    // One element, repeated: `on` is written into it when the work runs.
    hot = constant(Scalar(1), self.shape);
    move.plan(IndexedMode::kPut, hot, view, self.shape, 0);
  }

 private:
  // on and off are read when the work runs.
  void before(const std::vector<int64_t>&, const Tensor& target) override {
    if (on.defined()) converter(on.dtype, out.dtype)(on.bytes(), 1, hot.bytes(), 1, 1);
    if (!off.defined()) return;
    Move fill;
    fill.plan(off.view({}, {}), target);
    fill.run();
  }
};

NPU_OPERATOR(EmbeddingDenseBackward, "embedding_dense_backward", "index", in<&EmbeddingDenseBackward::grad>("grad"),
             in<&EmbeddingDenseBackward::indices>("indices"), attr<&EmbeddingDenseBackward::num_weights>("num_weights"),
             attr<&EmbeddingDenseBackward::padding_idx>("padding_idx"),
             attr<&EmbeddingDenseBackward::scale_grad_by_freq>("scale_grad_by_freq"),
             out<&EmbeddingDenseBackward::out>("out"));
NPU_OPERATOR(EmbeddingRenorm, "embedding_renorm", "index", inout<&EmbeddingRenorm::self>("self"),
             in<&EmbeddingRenorm::indices>("indices"), attr<&EmbeddingRenorm::max_norm>("max_norm"),
             attr<&EmbeddingRenorm::norm_type>("norm_type"));
NPU_OPERATOR(OneHot, "one_hot", "index", in<&OneHot::self>("self"), attr<&OneHot::depth>("depth"),
             optional<&OneHot::on>("on"), optional<&OneHot::off>("off"), attr<&OneHot::axis>("axis"),
             out<&OneHot::out>("out"));

}  // namespace
}  // namespace npu::ops
