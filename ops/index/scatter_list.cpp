// SPDX-License-Identifier: Apache-2.0
// Member i of a list of tensors gets updates[i], from place index[i] of an axis on: how the caches of several
// sequences grow by one step.
#include <vector>

#include "ops/operator.h"
#include "ops/vector/conversion/element.h"
#include "ops/vector/elementwise/move.h"

namespace npu::ops {
namespace {

struct ScatterList final : Operator {
  std::vector<Tensor> self;
  Tensor index, updates, mask;
  std::string reduce = "update";
  int64_t axis = -2;

  void prepare() override {
    require(reduce == "update", "reduce is '{}'; it must be 'update'", reduce);
    require(!mask.defined() || mask.count() == 0, "mask is {}; masks are not built: leave out the members instead",
            mask);
    require(
        !self.empty() && updates.rank() == self[0].rank() + 1 && updates.shape[0] == static_cast<int64_t>(self.size()),
        "updates is {}; it has one part for each of {} tensors", updates, self.size());
    require(index.shape == Dims{updates.shape[0]} && is_integer(index.dtype),
            "indice is {}; it has one integer for each of {} tensors", index, self.size());
    axis_ = wrap_dim(axis, self[0].rank());
    for (const Tensor& member : self) check(member);
  }
  void run() override {
    std::vector<int64_t> at;
    for (size_t i = 0; i < self.size(); ++i) {
      at.push_back(static_cast<int64_t>(load_element(index, static_cast<int64_t>(i) * index.strides[0])));
      const int64_t room = self[i].shape[axis_] - updates.shape[axis_ + 1];
      require(at[i] >= 0 && at[i] <= room, "indice[{}] is {}; dimension {} of the tensor takes 0 to {}", i, at[i],
              axis_, room);
    }
    for (size_t i = 0; i < self.size(); ++i) write(i, at[i]);
  }
  int64_t cost() const override { return 500 + updates.count(); }

 private:
  void check(const Tensor& member) const {
    require(member.dtype == updates.dtype && member.rank() + 1 == updates.rank(),
            "a tensor is {}, updates is {}: types and dimensions must agree", member, updates);
    for (size_t d = 0; d < member.rank(); ++d) {
      require(d == axis_ ? updates.shape[d + 1] <= member.shape[d] : updates.shape[d + 1] == member.shape[d],
              "a tensor is {}, updates is {}: dimension {} does not fit", member, updates, d);
    }
  }
  void write(size_t i, int64_t at) const {
    Dims shape(std::span(updates.shape.data() + 1, updates.rank() - 1));
    Tensor from = updates.view(shape, Dims(std::span(updates.strides.data() + 1, updates.rank() - 1)));
    from.offset += static_cast<int64_t>(i) * updates.strides[0];
    Tensor to = self[i].view(shape, self[i].strides);
    to.offset += at * to.strides[axis_];
    Move move;
    move.plan(from, to);
    move.run();
  }

  size_t axis_ = 0;
};

NPU_OPERATOR(ScatterList, "scatter_list", "index", inout<&ScatterList::self>("self"), in<&ScatterList::index>("index"),
             in<&ScatterList::updates>("updates"), optional<&ScatterList::mask>("mask"),
             attr<&ScatterList::reduce>("reduce"), attr<&ScatterList::axis>("axis"))
    .is(kMovesBits);

}  // namespace
}  // namespace npu::ops
