// SPDX-License-Identifier: Apache-2.0
// A gated unit whose halves are clipped, and whose value gets a bias,
//   out = a · sigmoid(alpha · a) · (b + bias)   with a at most `limit`, b within ±limit.
// Everything from `dim` on is one row. Its halves lie one behind the other, or, interleaved, element by element.
#include "ops/activation/clipped_gate.h"
#include "ops/operator.h"
#include "ops/scratch.h"
#include "ops/vector/conversion/element.h"
#include "ops/vector/loop/along_dim.h"

namespace npu::ops {
namespace {

struct ClippedSwiglu final : Operator {
  Tensor x, group_index, out;
  int64_t dim = -1;
  double alpha = 1.702, limit = 7, bias = 1;
  bool interleaved = true;

  void prepare() override {
    require(x.rank() >= 2 && is_floating(x.dtype) && x.dtype != DType::kDouble,
            "x is {}; it must have 2 dimensions at least, in float32, float16 or bfloat16", x);
    const size_t axis = wrap_dim(dim, x.rank());
    require(x.shape[axis] % 2 == 0, "x is {}: size {} of dimension {} is odd and cannot be halved", x, x.shape[axis],
            axis);
    Dims wanted = x.shape;
    wanted[axis] /= 2;
    check_shape(out, "out", wanted);
    require(!group_index.defined() || (group_index.rank() == 1 && is_integer(group_index.dtype)),
            "group_index is {}; it holds one integer for each group of rows", group_index);
    std::vector<size_t> axes;
    for (size_t i = axis; i < x.rank(); ++i) axes.push_back(i);
    from_ = Rows(x, axes, DType::kFloat), to_ = Rows(out, axes, DType::kFloat);
  }
  void run() override {
    const int64_t n = to_.length();
    const ClippedGate gate{static_cast<float>(alpha), static_cast<float>(limit), static_cast<float>(bias)};
    parallel_for(rows(), std::max<int64_t>(1, (1 << 13) / std::max<int64_t>(1, n)), [&](int64_t begin, int64_t end) {
      const Scratch<float> given(2 * n), made(n);
      for (int64_t row = begin; row < end; ++row) {
        const auto* a = static_cast<const float*>(from_.load(row, given));
        auto* y = static_cast<float*>(to_.target(row, made));
        interleaved ? clipped_gate(a, a + 1, 2, n, gate, y) : clipped_gate(a, a + n, 1, n, gate, y);
        to_.store(row, y);
      }
    });
  }
  int64_t cost() const override { return 500 + 4 * x.count(); }

 private:
  // Rows behind the last group belong to nobody: they stay as they are.
  int64_t rows() const {
    if (!group_index.defined()) return from_.count();
    int64_t sum = 0;
    for (int64_t i = 0; i < group_index.count(); ++i)
      sum += static_cast<int64_t>(load_element(group_index, i * group_index.strides[0]));
    require(sum >= 0, "group_index sums to {}; numbers of rows are not negative", sum);
    return std::min(sum, from_.count());
  }
  Rows from_, to_;
};

NPU_OPERATOR(ClippedSwiglu, "clipped_swiglu", "activation", in<&ClippedSwiglu::x>("x"),
             optional<&ClippedSwiglu::group_index>("group_index"), attr<&ClippedSwiglu::dim>("dim"),
             attr<&ClippedSwiglu::alpha>("alpha"), attr<&ClippedSwiglu::limit>("limit"),
             attr<&ClippedSwiglu::bias>("bias"), attr<&ClippedSwiglu::interleaved>("interleaved"),
             out<&ClippedSwiglu::out>("out"));

}  // namespace
}  // namespace npu::ops
