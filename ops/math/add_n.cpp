// SPDX-License-Identifier: Apache-2.0
// add_n: the sum of a list of tensors, element by element. The running sum is kept in the slot dtype (float32 for
// halves) and rounded once, in the order of the list: O(members * elements), each read once.
#include "base/thread_pool.h"
#include "base/wrap.h"
#include "ops/operator.h"
#include "ops/vector/loop/ordered_tensor.h"

namespace npu::ops {
namespace {

constexpr int64_t kBlock = 512;
constexpr int64_t kGrain = 16 * kBlock;

struct AddN final : Operator {
  std::vector<Tensor> tensors;
  Tensor out;
  DType slot = DType::kFloat;
  std::vector<OrderedTensor> parts;
  OrderedTensor target;

  void prepare() override {
    require(!tensors.empty(), "tensors is an empty list; pass at least one tensor");
    slot = slot_of(out.dtype);
    if (slot == DType::kBool) slot = DType::kInt64;
    parts.clear();
    for (size_t i = 0; i < tensors.size(); ++i) {
      require(tensors[i].defined() && tensors[i].expands(out.shape),
              "tensors[{}] is {}, out is {}; they must broadcast", i, tensors[i], out);
      parts.emplace_back(tensors[i].expanded(out.shape), slot);
    }
    target = OrderedTensor(out, slot);
  }
  void run() override {
    switch (slot) {
      case DType::kFloat: return add<float>();
      case DType::kDouble: return add<double>();
      case DType::kInt64: return add<int64_t>();
      case DType::kComplex64: return add<Complex64>();
      default: return add<Complex128>();
    }
  }
  int64_t cost() const override { return 200 + target.count() * static_cast<int64_t>(parts.size()); }

 private:
  template <class T>
  void add() const {
    parallel_for(target.count(), kGrain, [this](int64_t begin, int64_t end) {
      T sum[kBlock], next[kBlock];  // NOLINT: filled below
      for (int64_t at = begin; at < end; at += kBlock) {
        const int64_t n = std::min(kBlock, end - at);
        parts[0].load(at, n, sum);
        for (size_t p = 1; p < parts.size(); ++p) {
          parts[p].load(at, n, next);
          for (int64_t i = 0; i < n; ++i) sum[i] = static_cast<T>(wrap_add(sum[i], next[i]));
        }
        target.store(at, n, sum);
      }
    });
  }
};

NPU_OPERATOR(AddN, "add_n", "math", in<&AddN::tensors>("tensors"), out<&AddN::out>("out"));

}  // namespace
}  // namespace npu::ops
