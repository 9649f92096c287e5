// SPDX-License-Identifier: Apache-2.0
// Shapes that the data decide. An operator tells them to the client's tensor, which may be gone a moment later, and to
// who shows the task.
#pragma once

#include <utility>
#include <vector>

#include "base/error.h"
#include "base/tensor.h"

namespace npu::ops {

/// While it lives, what operators of this thread tell of their outputs is kept here, too.
class ToldShapes {
 public:
  ToldShapes() : outer_(current_) { current_ = this; }
  ~ToldShapes() { current_ = outer_; }
  ToldShapes(const ToldShapes&) = delete;
  ToldShapes& operator=(const ToldShapes&) = delete;

  /// The innermost of this thread, or null.
  static ToldShapes* current() { return current_; }
  void add(const Tensor& output, const Dims& shape, const Dims& strides) {
    all_.push_back({output.data, output.offset, shape, strides});
  }
  /// `output` as it was told; as it is where nothing was.
  void correct(Tensor& output) const {
    for (const Told& told : all_)
      if (told.data == output.data && told.offset == output.offset)
        output.shape = told.shape, output.strides = told.strides;
  }
  bool empty() const { return all_.empty(); }

 private:
  struct Told {
    const void* data;
    int64_t offset;
    Dims shape, strides;
  };
  std::vector<Told> all_;
  ToldShapes* const outer_;
  inline static thread_local constinit ToldShapes* current_ = nullptr;
};

/// Raises, before anything is written, unless `out` has room for a result of `shape`. Clients that know the size pass
/// an output of exactly that size, so only the run can tell.
inline void check_room(const Tensor& out, const char* name, const Dims& shape) {
  require(out.count() >= count_of(shape), "{} is {}; the result is {} and needs {} elements; pass a larger output",
          name, out, make_tensor(nullptr, out.dtype, shape), count_of(shape));
}

/// Writes the final shape of an output whose size depends on the data; the client reads it from its own object.
inline void set_shape(const Tensor& out, const Dims& shape) {
  if (out.origin == nullptr) return;
  out.origin->shape = shape;
  out.origin->strides = contiguous_strides(shape);
  if (ToldShapes* const told = ToldShapes::current()) told->add(out, out.origin->shape, out.origin->strides);
}

}  // namespace npu::ops
