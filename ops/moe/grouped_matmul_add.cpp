// SPDX-License-Identifier: Apache-2.0
// Gradients of experts' weights, added to what stands there: self[group] += x[rows of the group]ᵀ @ weight[those rows].
#include "ops/matmul/grouped_product.h"
#include "ops/moe/group_list.h"
#include "ops/operator.h"
#include "ops/scratch.h"

namespace npu::ops {
namespace {

struct GroupedMatmulAdd final : Operator {
  Tensor x, weight, group_list, self;
  bool transpose_x = true, transpose_weight = false;
  int64_t group_type = 2, group_list_type = 0;
  GroupList list;

  void prepare() override {
    require(transpose_x && !transpose_weight && group_type == 2,
            "transposeX is {}, transposeWeight {}, groupType {}; only true, false and 2 (groups along k) are built",
            transpose_x, transpose_weight, group_type);
    const DType type = x.dtype;
    require((type == DType::kHalf || type == DType::kBFloat16) && weight.dtype == type && self.dtype == DType::kFloat,
            "x is {}, weight is {}, y is {}; use float16 or bfloat16 for both and float32 for y", type, weight.dtype,
            self.dtype);
    require(x.rank() == 2 && weight.rank() == 2 && x.shape[0] == weight.shape[0],
            "x is {}, weight is {}: both are matrices of equally many rows", x.shape, weight.shape);
    require(group_list.rank() >= 1, "groupList is {}; it has a number for each group", group_list);
    require(group_list_type != 2, "groupListType is 2; use 0 for where groups end or 1 for their sizes");
    list.plan(group_list, group_list_type, group_list.shape[0]);
    const int64_t groups = group_list.shape[0], m = x.shape[1], n = weight.shape[1];
    require(self.shape == Dims{groups, m, n} || self.shape == Dims{groups * m, n}, "y is {}; it is [{}, {}, {}]", self,
            groups, m, n);
  }
  void run() override {
    const int64_t m = x.shape[1];
    Matrix a = Matrix::of(x);
    std::swap(a.rows, a.cols), std::swap(a.row, a.col);
    const Matrix b = Matrix::of(weight);
    GroupedProduct product;
    for (const Span& s : list.spans(group_list, x.shape[0])) {
      if (s.count == 0) continue;
      Tensor made = self;
      const size_t lead = self.rank() - 2;
      made.offset += s.group * (lead == 0 ? m * self.strides[0] : self.strides[0]);
      made = made.view({m, b.cols}, {self.strides[lead], self.strides[lead + 1]});
      product.items.push_back(
          {a.part(0, m, s.begin, s.count), b.part(s.begin, s.count, 0, b.cols), Matrix::of(made), s.group, 0, 0});
    }
    product.finish = [](const GroupedProduct::Item& item, const cube::Tile& tile, float* c) {
      const Matrix to = item.out.part(tile.row, tile.rows, tile.col, tile.cols);
      for (int64_t r = 0; r < tile.rows; ++r) {
        for (int64_t i = 0; i < tile.cols; ++i) *reinterpret_cast<float*>(to.at(r, i)) += c[r * tile.cols + i];
      }
    };
    product.run();
  }
  int64_t cost() const override { return 2000 + x.count() * weight.shape[1] / 32; }
};

NPU_OPERATOR(GroupedMatmulAdd, "grouped_matmul_add", "moe", in<&GroupedMatmulAdd::x>("x"),
             in<&GroupedMatmulAdd::weight>("weight"), in<&GroupedMatmulAdd::group_list>("group_list"),
             attr<&GroupedMatmulAdd::transpose_x>("transpose_x"),
             attr<&GroupedMatmulAdd::transpose_weight>("transpose_weight"),
             attr<&GroupedMatmulAdd::group_type>("group_type"),
             attr<&GroupedMatmulAdd::group_list_type>("group_list_type"), inout<&GroupedMatmulAdd::self>("self"));

}  // namespace
}  // namespace npu::ops
