// SPDX-License-Identifier: Apache-2.0
// The cross product of vectors of three elements along one dimension.
#include <complex>

#include "base/dims.h"
#include "ops/operator.h"
#include "ops/vector/loop/along_dim.h"

namespace npu::ops {
namespace {

template <class T>
void cross(const T* a, const T* b, T* out) {
  const T first = a[1] * b[2] - a[2] * b[1], second = a[2] * b[0] - a[0] * b[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
  out[0] = first;
  out[1] = second;
}

struct Cross final : Operator {
  Tensor self, other, out;
  int64_t dim = -1;
  Rows left, right, result;
  DType slot = DType::kUndefined;

  void prepare() override {
    const Dims shape = broadcast(self.shape, other.shape);
    require(!shape.empty(), "self and other are scalars; a cross product needs vectors of 3 elements");
    const size_t axis = wrap_dim(dim, shape.size());
    require(shape[axis] == 3, "self is {}, other is {}: dimension {} must have 3 elements", self, other, dim);
    check_shape(out, "out", shape);
    slot = slot_of(out.dtype) == DType::kBool ? DType::kInt64 : slot_of(out.dtype);
    left = Rows(self.expanded(shape), axis, slot);
    right = Rows(other.expanded(shape), axis, slot);
    result = Rows(out, axis, slot);
  }
  void run() override {
    if (slot == DType::kComplex64) return run_in<Complex64>();
    if (slot == DType::kComplex128) return run_in<Complex128>();
    visit_real(slot, [this](auto zero) { run_in<decltype(zero)>(); });
  }
  int64_t cost() const override { return 500 + 10 * out.count(); }

 private:
  template <class T>
  void run_in() const {
    for_rows(result, [this](int64_t begin, int64_t end) {
      T a[3], b[3], made[3];
      for (int64_t row = begin; row < end; ++row) {
        const auto* x = static_cast<const T*>(left.load(row, a));
        const auto* y = static_cast<const T*>(right.load(row, b));
        cross(x, y, made);
        // Made beside, then copied: out may be self or other, of which no element may go before all are read.
        auto* to = static_cast<T*>(result.target(row, a));
        std::copy_n(made, 3, to);
        result.store(row, to);
      }
    });
  }
};

NPU_OPERATOR(Cross, "cross", "linalg", in<&Cross::self>("self"), in<&Cross::other>("other"), attr<&Cross::dim>("dim"),
             out<&Cross::out>("out"));

}  // namespace
}  // namespace npu::ops
