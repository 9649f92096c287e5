// SPDX-License-Identifier: Apache-2.0
// cat: tensors side by side along dim. stack: along a new dimension. split: the reverse of cat.
#include "ops/operator.h"
#include "ops/vector/elementwise/move.h"

namespace npu::ops {
namespace {

/// Positions [begin, begin + size) of `axis`.
Tensor narrowed(const Tensor& tensor, size_t axis, int64_t begin, int64_t size) {
  Tensor out = tensor;
  out.offset += begin * tensor.strides[axis];
  out.shape[axis] = size;
  return out;
}

// Each part is a copy of its own, planned with the strides of both sides; what may go row by row and what is shared
// among threads is Move's to decide.
struct Moves : Operator {
  std::vector<Move> moves;

  void run() override {
    for (const Move& move : moves) move.run();
  }
  int64_t cost() const override {
    int64_t total = 100;
    for (const Move& move : moves) total += move.cost();
    return total;
  }

 protected:
  void add(const Tensor& from, const Tensor& to) {
    moves.emplace_back();
    moves.back().plan(from, to);
  }
};

// torch lets a 1-dim tensor without elements pass, whatever the other shapes.
bool skipped(const Tensor& tensor) { return !tensor.defined() || (tensor.rank() == 1 && tensor.shape[0] == 0); }

struct Cat final : Moves {
  std::vector<Tensor> tensors;
  Tensor out;
  int64_t dim = 0;

  void prepare() override {
    const size_t axis = wrap_dim(dim, out.rank());
    moves.clear();
    int64_t at = 0;
    for (size_t i = 0; i < tensors.size(); ++i) {
      const Tensor& t = tensors[i];
      if (skipped(t)) continue;
      require(out.rank() > 0 && t.rank() == out.rank(),
              "tensors[{}] is {}, out is {}; both have equally many dimensions, at least one", i, t, out);
      for (size_t d = 0; d < t.rank(); ++d) {
        require(d == axis || t.shape[d] == out.shape[d], "tensors[{}] is {}, out is {}: dimension {} differs", i, t,
                out, d);
      }
      require(at + t.shape[axis] <= out.shape[axis], "tensors are {} or more along dimension {}, out is {}",
              at + t.shape[axis], axis, out);
      add(t, narrowed(out, axis, at, t.shape[axis]));
      at += t.shape[axis];
    }
    require(out.rank() == 0 || at == out.shape[axis] || out.count() == 0,
            "tensors are {} along dimension {}, out is {}", at, axis, out);
  }
};

struct Stack final : Moves {
  std::vector<Tensor> tensors;
  Tensor out;
  int64_t dim = 0;

  void prepare() override {
    const size_t axis = wrap_dim(dim, out.rank());
    require(out.rank() > 0 && out.shape[axis] == static_cast<int64_t>(tensors.size()),
            "{} tensors stacked along dimension {} do not give out {}", tensors.size(), axis, out);
    moves.clear();
    for (size_t i = 0; i < tensors.size(); ++i) {
      Tensor slot = narrowed(out, axis, static_cast<int64_t>(i), 1);
      // The axis of length 1 goes, so that the place looks like the tensor that is to fill it.
      slot.shape.erase(axis);
      slot.strides.erase(axis);
      require(tensors[i].defined() && tensors[i].shape == slot.shape, "tensors[{}] is {}, its place in out ({}) is {}",
              i, tensors[i], out, slot.shape);
      add(tensors[i], slot);
    }
  }
};

struct Split final : Moves {
  Tensor self;
  std::vector<int64_t> split_sizes;
  int64_t split_size = 0;  ///< of all parts but the last, in place of split_sizes
  int64_t dim = 0;
  std::vector<Tensor> out;

  void prepare() override {
    const size_t axis = wrap_dim(dim, self.rank());
    if (split_size != 0) split_evenly(axis);
    require(self.rank() > 0 && out.size() == split_sizes.size(), "{} split sizes for {} outputs of {}",
            split_sizes.size(), out.size(), self);
    moves.clear();
    int64_t at = 0;
    for (size_t i = 0; i < out.size(); ++i) {
      const int64_t size = split_sizes[i];
      require(size >= 0 && at + size <= self.shape[axis], "split_sizes reach {} along dimension {}, self is {}",
              at + size, axis, self);
      const Tensor part = narrowed(self, axis, at, size);
      require(out[i].defined() && out[i].shape == part.shape, "out[{}] is {}, its part of self is {}", i, out[i],
              part.shape);
      add(part, out[i]);
      at += size;
    }
    require(at == self.shape[axis], "split_sizes add up to {}, dimension {} of self ({}) is {}", at, axis, self,
            self.shape[axis]);
  }

 private:
  void split_evenly(size_t axis) {
    require(self.rank() > 0 && split_size > 0, "self is {}, the parts have {} elements; pass a positive number", self,
            split_size);
    split_sizes.clear();
    for (int64_t at = 0, size = self.shape[axis]; at < size && split_sizes.size() <= out.size(); at += split_size)
      split_sizes.push_back(std::min(split_size, size - at));
    if (self.shape[axis] == 0) split_sizes.push_back(0);
  }
};

NPU_OPERATOR(Cat, "cat", "shape", in<&Cat::tensors>("tensors"), attr<&Cat::dim>("dim"), out<&Cat::out>("out"))
    .is(kMovesBits);
NPU_OPERATOR(Stack, "stack", "shape", in<&Stack::tensors>("tensors"), attr<&Stack::dim>("dim"), out<&Stack::out>("out"))
    .is(kMovesBits);
NPU_OPERATOR(Split, "split", "shape", in<&Split::self>("self"), attr<&Split::split_sizes>("split_sizes"),
             attr<&Split::split_size>("split_size"), attr<&Split::dim>("dim"), out<&Split::out>("out"))
    .is(kMovesBits);

}  // namespace
}  // namespace npu::ops
