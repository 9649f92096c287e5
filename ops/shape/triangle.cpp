// SPDX-License-Identifier: Apache-2.0
// tril and triu: the lower or upper triangle of each matrix, zeros elsewhere.
#include <algorithm>
#include <cstring>

#include "ops/operator.h"
#include "ops/vector/loop/along_dim.h"

namespace npu::ops {
namespace {

template <bool kLower>
struct Triangle final : Operator {
  Tensor self, out;
  int64_t diagonal = 0;
  Rows rows, target;

  void prepare() override {
    require(self.rank() >= 2, "self is {}; a triangle needs 2 dimensions or more", self);
    require(self.dtype == out.dtype, "self is {}, out is {}; both have the same dtype", self, out);
    check_shape(out, "out", self.shape);
    // Rows of self's own type: bytes are moved and zeroed, nothing is converted.
    rows = Rows(self, self.rank() - 1, self.dtype);
    target = Rows(out, self.rank() - 1, self.dtype);
    // A diagonal beyond the corners is as good as one at them.
    diagonal = std::clamp(diagonal, -self.shape[self.rank() - 2] - 1, self.shape[self.rank() - 1]);
  }
  void run() override {
    if (self.count() == 0) return;
    const int64_t height = self.shape[self.rank() - 2];
    const auto size = static_cast<int64_t>(size_of(self.dtype));
    for_rows(rows, [&](int64_t begin, int64_t end) {
      std::vector<std::byte> from(static_cast<size_t>(rows.row_bytes())), to(from.size());
      for (int64_t row = begin; row < end; ++row) {
        const auto* x = static_cast<const std::byte*>(rows.load(row, from.data()));
        auto* y = static_cast<std::byte*>(target.target(row, to.data()));
        // Columns [0, edge) are left of the border: below the diagonal including it, or above it.
        const int64_t shift = row % height + diagonal + (kLower ? 1 : 0);
        const int64_t edge = std::clamp<int64_t>(shift, 0, rows.length()) * size;
        const int64_t first = kLower ? 0 : edge, last = kLower ? edge : rows.row_bytes();
        // In place nothing moves; memmove, as views of one tensor may overlap.
        if (y != x) std::memmove(y + first, x + first, static_cast<size_t>(last - first));
        std::memset(y + (kLower ? last : 0), 0, static_cast<size_t>(kLower ? rows.row_bytes() - last : first));
        target.store(row, y);
      }
    });
  }
  int64_t cost() const override { return 200 + self.count(); }
};

using Tril = Triangle<true>;
using Triu = Triangle<false>;
NPU_OPERATOR(Tril, "tril", "shape", in<&Tril::self>("self"), attr<&Tril::diagonal>("diagonal"), out<&Tril::out>("out"))
    .is(kMovesBits);
NPU_OPERATOR(Triu, "triu", "shape", in<&Triu::self>("self"), attr<&Triu::diagonal>("diagonal"), out<&Triu::out>("out"))
    .is(kMovesBits);

}  // namespace
}  // namespace npu::ops
