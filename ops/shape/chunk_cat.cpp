// SPDX-License-Identifier: Apache-2.0
// Tensors cut into the same number of chunks along `dim`, the last ones filled up with zeros; chunk i of all tensors
// lies side by side in row i of the result: [sizes before dim…, num_chunks, elements of the chunks].
#include <algorithm>

#include "base/division.h"
#include "ops/runner/delegate.h"

namespace npu::ops {
namespace {

struct ChunkCat final : Delegate {
  std::vector<Tensor> tensors;
  Tensor out;
  int64_t dim = 0, num_chunks = 1;

  void prepare() override {
    restart();
    require(!tensors.empty(), "there are no tensors; give at least one");
    require(num_chunks > 0, "num_chunks is {}; it must be positive", num_chunks);
    require(dim >= 0, "dim is {}; it must not be negative", dim);
    require(out.rank() == axis() + 2, "out is {}; it must have {} dimensions", out, axis() + 2);
    Dims wanted = leading(tensors[0]);
    int64_t columns = 0;
    for (const Tensor& t : tensors) {
      require(leading(t) == wanted, "tensors are {} and {}: sizes before dimension {} must be equal", tensors[0], t,
              dim);
      columns += chunk_of(t) * count_of(trailing(t));
    }
    wanted.push_back(num_chunks), wanted.push_back(columns);
    require(out.shape == wanted, "out is {}, the chunks make {}", out, wanted);
    int64_t column = 0;
    for (const Tensor& t : tensors) {
      add(t, column);
      column += chunk_of(t) * count_of(trailing(t));
    }
  }

 private:
  size_t axis() const { return static_cast<size_t>(dim); }
  Dims leading(const Tensor& t) const {
    require(t.rank() > axis(), "a tensor is {}; it has no dimension {}", t, dim);
    return Dims(std::span(t.shape.data(), axis()));
  }
  Dims trailing(const Tensor& t) const { return Dims(std::span(t.shape.data() + axis() + 1, t.rank() - axis() - 1)); }
  int64_t chunk_of(const Tensor& t) const { return divide_up(t.shape[axis()], num_chunks); }

  // Chunks [first, first + chunks) of the result, rows [skip, skip + rows) of each.
  Tensor place(const Tensor& t, int64_t column, int64_t first, int64_t chunks, int64_t skip, int64_t rows) const {
    const Dims rest = trailing(t);
    const int64_t step = out.strides.back();
    Dims shape = leading(t), strides = Dims(std::span(out.strides.data(), axis()));
    shape.push_back(chunks), strides.push_back(out.strides[axis()]);
    shape.push_back(rows), strides.push_back(count_of(rest) * step);
    const Dims inner = contiguous_strides(rest);
    for (size_t i = 0; i < rest.size(); ++i) shape.push_back(rest[i]), strides.push_back(inner[i] * step);
    Tensor to = out.view(shape, strides);
    to.offset += first * out.strides[axis()] + (column + skip * count_of(rest)) * step;
    return to;
  }
  // The same rows of the tensor.
  Tensor piece(const Tensor& t, int64_t first, int64_t chunks, int64_t rows) const {
    Dims shape = t.shape, strides = t.strides;
    shape[axis()] = rows;
    shape.insert(axis(), chunks), strides.insert(axis(), t.strides[axis()] * chunk_of(t));
    Tensor from = t.view(shape, strides);
    from.offset += first * chunk_of(t) * t.strides[axis()];
    return from;
  }
  void add(const Tensor& t, int64_t column) {
    const int64_t chunk = chunk_of(t);
    if (chunk == 0) return;
    const int64_t whole = t.shape[axis()] / chunk, rest = t.shape[axis()] % chunk;
    copy({piece(t, 0, whole, chunk), {}}, place(t, column, 0, whole, 0, chunk));
    if (rest > 0) {
      copy({piece(t, whole, 1, rest), {}}, place(t, column, whole, 1, 0, rest));
      copy({{}, Scalar(0)}, place(t, column, whole, 1, rest, chunk - rest));
    }
    const int64_t used = whole + (rest > 0 ? 1 : 0);
    copy({{}, Scalar(0)}, place(t, column, used, num_chunks - used, 0, chunk));
  }
  void copy(const Operand& from, const Tensor& to) {
    if (to.count() > 0) step("copy", with("self", from), with("out", to));
  }
};

NPU_OPERATOR(ChunkCat, "chunk_cat", "shape", in<&ChunkCat::tensors>("tensors"), attr<&ChunkCat::dim>("dim"),
             attr<&ChunkCat::num_chunks>("num_chunks"), out<&ChunkCat::out>("out"))
    .is(kMovesBits | kCasts);

}  // namespace
}  // namespace npu::ops
