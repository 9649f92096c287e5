// SPDX-License-Identifier: Apache-2.0
// Batches of products whose operands and result lie in any order of axes: the permutations are views, nothing moves.
#include <array>

#include "ops/matmul/blocked.h"
#include "ops/matmul/product.h"
#include "ops/operator.h"

namespace npu::ops {
namespace {

constexpr size_t kAxes = 3;

// Where axis i of the permuted tensor lies in the given one.
std::array<size_t, kAxes> axes_of(const char* name, const std::vector<int64_t>& order) {
  require(order.size() == kAxes, "{} has {} numbers; it orders three axes", name, order.size());
  std::array<size_t, kAxes> axes{};
  unsigned seen = 0;
  for (size_t i = 0; i < kAxes; ++i) {
    require(order[i] >= 0 && order[i] < 3, "{} names axis {}; the axes are 0, 1 and 2", name, order[i]);
    axes[i] = static_cast<size_t>(order[i]);
    seen |= 1u << axes[i];
  }
  require(seen == 7, "{} is [{}, {}, {}]; it must name each axis once", name, order[0], order[1], order[2]);
  return axes;
}

Tensor permuted(const char* name, const Tensor& t, const char* order_name, const std::vector<int64_t>& order) {
  require(t.rank() == kAxes, "{} is {}; it must have 3 dimensions", name, t);
  const auto axes = axes_of(order_name, order);
  Dims shape, strides;
  for (const size_t axis : axes) shape.push_back(t.shape[axis]), strides.push_back(t.strides[axis]);
  return t.view(shape, strides);
}

/// out = permute(x1) @ permute(x2), [batch, m, n], in the order that perm_y says. With batch_split_factor f, the batch
/// is cut into f groups and those of one group lie side by side: out is [f, m, batch / f * n].
struct PermutedProduct final : Operator {
  Tensor x1, x2, bias, scale, out;
  std::vector<int64_t> perm_x1{0, 1, 2}, perm_x2{0, 1, 2}, perm_y{1, 0, 2};
  int64_t batch_split_factor = 1;

  void prepare() override {
    require(!bias.defined() || bias.count() == 0, "bias is {}; the function has no use for one: leave it out", bias);
    require(!scale.defined() || scale.count() == 0,
            "scale is {}: results of int8 are not built; leave it out and quantise what is computed", scale);
    weight_.plan(x2, "x2");
    a_ = permuted("x1", x1, "perm_x1", perm_x1), b_ = permuted("x2", x2, "perm_x2", perm_x2);
    require(a_.shape[0] == b_.shape[0],
            "x1 is {}, x2 is {} in the order of the product: batch sizes differ ({} and {})", a_.shape, b_.shape,
            a_.shape[0], b_.shape[0]);
    require(a_.shape[2] == b_.shape[1],
            "x1 is {}, x2 is {} in the order of the product: inner sizes differ ({} and {})", a_.shape, b_.shape,
            a_.shape[2], b_.shape[1]);
    out_ = batch_split_factor > 1 ? grouped() : plain();
    product_.plan(a_, b_, {}, out_);
  }
  void run() override {
    Scratch<std::byte> room;
    Tensor b = b_;
    b.data = weight_.of(x2, room).data;
    product_.run(a_, b, {}, out_);
  }
  int64_t cost() const override { return product_.cost(); }

 private:
  // out is the result permuted, so the axes of the result are found by going back.
  Tensor plain() const {
    const auto axes = axes_of("perm_y", perm_y);
    const Dims shape{a_.shape[0], a_.shape[1], b_.shape[2]};
    Dims wanted, strides(kAxes, 0);
    for (const size_t axis : axes) wanted.push_back(shape[axis]);
    require_shape(out, wanted);
    for (size_t i = 0; i < kAxes; ++i) strides[axes[i]] = out.strides[i];
    return out.view(shape, strides);
  }
  Tensor grouped() {
    const int64_t batch = a_.shape[0], groups = batch_split_factor, m = a_.shape[1], n = b_.shape[2];
    require(batch % groups == 0, "batch_split_factor is {}, the batch {}; the batch must be a multiple", groups, batch);
    require(perm_y == std::vector<int64_t>({1, 0, 2}), "perm_y must be [1, 0, 2] where batch_split_factor is {}",
            groups);
    const int64_t each = batch / groups;
    require_shape(out, {groups, m, each * n});
    for (Tensor* t : {&a_, &b_}) {
      t->shape[0] = each, t->strides.insert(0, t->strides[0] * each);
      t->shape.insert(0, groups);
    }
    return out.view({groups, each, m, n}, {out.strides[0], n * out.strides[2], out.strides[1], out.strides[2]});
  }

  Tensor a_, b_, out_;
  PlainWeight weight_;
  Product product_;
};

NPU_OPERATOR(PermutedProduct, "permuted_product", "matmul", in<&PermutedProduct::x1>("x1"),
             in<&PermutedProduct::x2>("x2"), optional<&PermutedProduct::bias>("bias"),
             optional<&PermutedProduct::scale>("scale"), attr<&PermutedProduct::perm_x1>("perm_x1"),
             attr<&PermutedProduct::perm_x2>("perm_x2"), attr<&PermutedProduct::perm_y>("perm_y"),
             attr<&PermutedProduct::batch_split_factor>("batch_split_factor"), out<&PermutedProduct::out>("out"));

}  // namespace
}  // namespace npu::ops
