// SPDX-License-Identifier: Apache-2.0
// Products of up to eight rows with large weights of halves, which are read as they are stored: by rows, by columns, in
// blocks. Operands are eighths up to 2, so sums of up to 2,100 products are exact in float32, and equal to float64's.
#include <gtest/gtest.h>

#include "ops/call_fixture.h"
#include "ops/matmul/blocked.h"

namespace npu::ops {
namespace {

/// A [k, n] weight; `columns`: stored as [n, k].
struct Weight {
  Weight(DType dtype, int64_t k, int64_t n, bool columns, bool blocks)
      : plain(Array(dtype, columns ? Dims{n, k} : Dims{k, n}).random(2)), stored(plain.tensor()) {
    if (blocks) {
      memory.assign(static_cast<size_t>(blocked_elements(stored.shape, dtype)) * size_of(dtype), std::byte{0x7f});
      stored.data = memory.data(), stored.format = kBlockedFormat;
      pack(plain.tensor().bytes(), stored);
    }
    if (columns) stored = stored.transposed(0, 1);
  }
  Weight(const Weight&) = delete;
  Weight& operator=(const Weight&) = delete;

  Array plain;
  Tensor stored;
  std::vector<std::byte> memory;
};

struct Case {
  int64_t m, k, n;
};

std::vector<double> wanted(const Case& c, const std::vector<double>& a, const std::vector<double>& b, bool columns) {
  std::vector<double> out(static_cast<size_t>(c.m * c.n));
  for (int64_t i = 0; i < c.m; ++i) {
    for (int64_t j = 0; j < c.n; ++j) {
      for (int64_t p = 0; p < c.k; ++p)
        out[static_cast<size_t>(i * c.n + j)] +=
            a[static_cast<size_t>(i * c.k + p)] * b[static_cast<size_t>(columns ? j * c.k + p : p * c.n + j)];
    }
  }
  return out;
}

TEST(FewRows, AreRightForEachDtypeAndOrder) {
  for (const DType dtype : {DType::kHalf, DType::kBFloat16}) {
    for (const Case& c :
         {Case{1, 256, 256}, {2, 333, 211}, {3, 17, 2100}, {4, 2100, 17}, {5, 190, 190}, {8, 512, 96}}) {
      for (const bool columns : {false, true}) {
        for (const bool blocks : {false, true}) {
          const Array a = Array(dtype, {c.m, c.k}).random(1), out = Array(DType::kFloat, {c.m, c.n}).filled(9);
          const Weight weight(dtype, c.k, c.n, columns, blocks);
          Call("mm").set("self", a.tensor()).set("mat2", weight.stored).set("out", out.tensor()).run();
          EXPECT_EQ(out.values(), wanted(c, a.values(), weight.plain.values(), columns))
              << name_of(dtype) << " " << c.m << " x " << c.k << " x " << c.n << (columns ? " columns" : " rows")
              << (blocks ? " blocks" : "");
        }
      }
    }
  }
}

TEST(FewRows, TakeStridedRowsAndAnAddend) {
  const Case c{3, 300, 200};
  const Array sum(DType::kFloat, {c.m, c.n});
  const Array turned = Array(DType::kFloat, {c.m, c.k}, {1, 0}).random(1), self = Array(DType::kHalf, {c.n}).random(3);
  const Weight weight(DType::kHalf, c.k, c.n, /*columns=*/true, /*blocks=*/false);
  Call("addmm")
      .set("self", self.tensor())
      .set("mat1", turned.tensor())
      .set("mat2", weight.stored)
      .set("beta", Scalar(0.5))
      .set("alpha", Scalar(2.0))
      .set("out", sum.tensor())
      .run();
  auto right = wanted(c, turned.values(), weight.plain.values(), true);
  for (size_t i = 0; i < right.size(); ++i) right[i] = 2 * right[i] + 0.5 * self.values()[i % 200];
  EXPECT_EQ(sum.values(), right);
}

}  // namespace
}  // namespace npu::ops
