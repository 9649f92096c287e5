// SPDX-License-Identifier: Apache-2.0
// Sparse tensors, which come as three: the positions of their elements, a row each, the elements, and their size.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "graph/node/array.h"
#include "graph/node/run_integer.h"

namespace npu::graph {
namespace {

std::string text_of(std::span<const int64_t> sizes) { return fmt::format("[{}]", fmt::join(sizes, ",")); }
std::string text_of(const Dims& shape) { return text_of(std::span(shape.data(), shape.size())); }

/// Rows of `rank` integers.
struct Positions {
  Positions(std::vector<int64_t> all, size_t width) : numbers(std::move(all)), rank(width) {}
  std::span<const int64_t> operator[](size_t i) const { return {numbers.data() + i * rank, rank}; }
  bool before(size_t a, size_t b) const { return std::ranges::lexicographical_compare((*this)[a], (*this)[b]); }
  std::vector<int64_t> numbers;
  size_t rank;
};

bool inside(std::span<const int64_t> position, const Dims& shape) {
  for (size_t d = 0; d < position.size(); ++d)
    if (position[d] < 0 || position[d] >= shape[d]) return false;
  return true;
}

/// As the client's own check says it, which finds the first position that is wrong.
void check_order(const Positions& positions, size_t i, const Dims& shape) {
  require(inside(positions[i], shape), "indices[{}] = {} is out of bounds: need 0 <= index < {}", i,
          text_of(positions[i]), text_of(shape));
  if (i == 0 || positions.before(i - 1, i)) return;
  require(!positions.before(i, i - 1),
          "indices[{}] = {} is out of order. Many sparse ops require sorted indices.\n"
          "    Use `tf.sparse.reorder` to create a correctly ordered copy.\n",
          i, text_of(positions[i]));
  fail(Code::kNnInvalidParam, "indices[{}] = {} is repeated", i, text_of(positions[i]));
}

int64_t place_of(std::span<const int64_t> position, const Dims& shape) {
  int64_t place = 0;
  for (size_t d = 0; d < position.size(); ++d) place = place * shape[d] + position[d];
  return place;
}

/// The elements of a tensor of any strides, one behind the other.
struct Elements {
  Elements(Frame& frame, const Planned& planned) : tensor(frame.tensor(planned)), bytes(size_of(tensor.dtype)) {
    if (!tensor.contiguous()) tensor = (dense = copy_of(frame.device(), tensor)).tensor;
  }
  const std::byte* operator[](int64_t i) const { return tensor.bytes() + static_cast<size_t>(i) * bytes; }
  Value dense;
  Tensor tensor;
  size_t bytes;
};

void put(const Tensor& to, int64_t place, const std::byte* element) {
  const size_t bytes = size_of(to.dtype);
  std::memcpy(to.bytes() + static_cast<size_t>(place) * bytes, element, bytes);
}

void check_dense(const Lowering& l) {
  const Dims &indices = l.shape(0), &values = l.shape(2);
  require(indices.size() <= 2, "sparse_indices should be a scalar, vector, or matrix, got shape {}", text_of(indices));
  require(l.shape(1).size() == 1, "output_shape must be rank 1, got shape {}", text_of(l.shape(1)));
  const int64_t rank = indices.size() == 2 ? indices[1] : 1, count = indices.empty() ? 1 : indices[0];
  require(l.shape(1)[0] == rank, "output_shape has incorrect number of elements: {} should be: {}", l.shape(1)[0],
          rank);
  require(values.empty() || values == Dims{count}, "sparse_values has incorrect shape {}, should be [] or [{}]",
          text_of(values), count);
  require(l.shape(3).empty(), "default_value should be a scalar.");
}

void to_dense(Lowering& l) {
  check_dense(l);
  const bool validates = l.attributes().get_or<bool>("validate_indices", true);
  const std::vector<int64_t> sizes = l.integers(1);
  for (const int64_t size : sizes) require(size >= 0, "Dimension {} must be >= 0", size);
  const Dims shape(sizes);
  const Planned indices = l.input(0), values = l.input(2), other = l.input(3), out = l.make(0, l.dtype(2), shape);
  l.run({indices, values, other, out}, [=](Frame& frame) {
    const Positions positions(integers(frame, indices), sizes.size());
    const Elements given(frame, values), rest(frame, other);
    const Tensor to = frame.tensor(out);
    for (int64_t i = 0; i < to.count(); ++i) put(to, i, rest[0]);
    for (size_t i = 0; i < static_cast<size_t>(indices.shape().empty() ? 1 : indices.shape()[0]); ++i) {
      if (validates) check_order(positions, i, shape);
      require(inside(positions[i], shape), "Indices are not valid (out of bounds).  Shape: {}", text_of(shape));
      put(to, place_of(positions[i], shape), given[values.shape().empty() ? 0 : static_cast<int64_t>(i)]);
    }
  });
}

void check_rows(const Lowering& l) {
  require(l.shape(2).size() == 1, "dense_shape must be a vector, saw: {}", text_of(l.shape(2)));
  require(l.shape(0).size() == 2, "indices must be a matrix, saw: {}", text_of(l.shape(0)));
  require(l.shape(1).size() == 1, "values must be a vector, saw: {}", text_of(l.shape(1)));
  require(l.shape(0)[0] == l.shape(1)[0],
          "The length of `values` ({}) must match the first dimension of `indices` ({}).", l.shape(1)[0],
          l.shape(0)[0]);
  require(l.shape(0)[1] == l.shape(2)[0],
          "The length of `dense_shape` ({}) must match the second dimension of `indices` ({}).", l.shape(2)[0],
          l.shape(0)[1]);
  require(l.shape(3).empty(), "default_value must be a scalar, saw: {}", text_of(l.shape(3)));
  require(l.shape(2)[0] > 0, "Dense shape cannot be empty.");
}

/// Where rows begin once those without elements got one.
struct Filled {
  Filled(const Positions& positions, size_t count, int64_t rows) : sizes(static_cast<size_t>(rows)) {
    require(rows > 0 || count == 0, "Received SparseTensor with dense_shape[0] = 0 but indices.shape[0] = {}", count);
    for (size_t i = 0; i < count; ++i) {
      const int64_t row = positions[i][0];
      require(row >= 0 && row < rows, "indices({}, 0) is invalid: {} >= {}", i, row, rows);
      ++sizes[static_cast<size_t>(row)];
    }
    for (const int64_t size : sizes) starts.push_back(total), total += std::max<int64_t>(size, 1);
  }
  bool empty(size_t row) const { return sizes[row] == 0; }
  std::vector<int64_t> sizes, starts;
  int64_t total = 0;
};

void fill_empty_rows(Lowering& l) {
  check_rows(l);
  const Planned indices = l.input(0), values = l.input(1), shape = l.input(2), other = l.input(3);
  const int64_t count = l.shape(0)[0], rank = l.shape(0)[1];
  const std::vector<Planned> out{l.dynamic(0, DType::kInt64), l.dynamic(1, l.dtype(1)), l.dynamic(2, DType::kBool),
                                 l.late(3, DType::kInt64, {count})};
  l.run({indices, values, shape, other}, out, [=](Frame& frame) {
    const Positions positions(integers(frame, indices), static_cast<size_t>(rank));
    const int64_t rows = integers(frame, shape)[0];
    Filled filled(positions, static_cast<size_t>(count), rows);
    const Elements given(frame, values), rest(frame, other);
    const int device = frame.device();
    const Value places = make_value(device, DType::kInt64, {filled.total, rank}),
                elements = make_value(device, values.dtype(), {filled.total}),
                empty = make_value(device, DType::kBool, {rows}), map = make_value(device, DType::kInt64, {count});
    auto* place = places.tensor.as<int64_t>();
    for (size_t row = 0; row < filled.sizes.size(); ++row) {
      empty.tensor.as<bool>()[row] = filled.empty(row);
      if (!filled.empty(row)) continue;
      std::fill_n(place + filled.starts[row] * rank, rank, 0);
      place[filled.starts[row] * rank] = static_cast<int64_t>(row);
      put(elements.tensor, filled.starts[row], rest[0]);
    }
    for (int64_t i = 0; i < count; ++i) {
      const auto position = positions[static_cast<size_t>(i)];
      const int64_t to = filled.starts[static_cast<size_t>(position[0])]++;
      std::ranges::copy(position, place + to * rank);
      put(elements.tensor, to, given[i]);
      map.tensor.as<int64_t>()[i] = to;
    }
    frame.set(out[0], places), frame.set(out[1], elements), frame.set(out[2], empty), frame.set(out[3], map);
  });
}

/// What came from elements goes back to them; the sum of all else is the default's.
void fill_empty_rows_grad(Lowering& l) {
  require(l.shape(0).size() == 1, "reverse_index_map must be a vector, saw: {}", text_of(l.shape(0)));
  require(l.shape(1).size() == 1, "grad_values must be a vector, saw: {}", text_of(l.shape(1)));
  if (l.dtype(1) != DType::kFloat && l.dtype(1) != DType::kDouble) l.decline("sums of this type are the client's");
  const Planned map = l.input(0), gradient = l.input(1);
  const Planned values = l.make(0, gradient.dtype(), map.shape()), other = l.make(1, gradient.dtype(), {});
  l.run({map, gradient}, {values, other}, [=](Frame& frame) {
    const Elements given(frame, gradient);
    const int64_t count = given.tensor.count();
    std::vector<bool> used(static_cast<size_t>(count));
    int64_t i = 0;
    for (const int64_t from : integers(frame, map)) {
      require(from >= 0 && from < count, "Elements in reverse index must be in [0, {}) but got {}", count, from);
      put(frame.tensor(values), i++, given[from]);
      used[static_cast<size_t>(from)] = true;
    }
    const auto add_up = [&]<class T>(T sum) {
      for (size_t k = 0; k < used.size(); ++k)
        if (!used[k]) sum += given.tensor.as<T>()[k];
      *frame.tensor(other).as<T>() = sum;
    };
    gradient.dtype() == DType::kFloat ? add_up(0.0f) : add_up(0.0);
  });
}

/// `asked` with a number in the place of -1.
Dims reshaped_sizes(const Dims& from, const std::vector<int64_t>& asked) {
  Dims out(asked), others = out;
  int64_t open = -1;
  for (size_t i = 0; i < asked.size(); ++i) {
    if (asked[i] == -1) {
      require(open < 0, "only one output dimension may be -1, not both {} and {}", open, i);
      open = static_cast<int64_t>(i);
      others[i] = 1;
      continue;
    }
    require(asked[i] >= 0, "size {} must be non-negative, not {}", i, asked[i]);
  }
  const int64_t count = count_of(from), known = count_of(others);
  if (open >= 0) {
    require(known > 0,
            "reshape cannot infer the missing input size for an empty tensor unless all specified input sizes are "
            "non-zero");
    out[static_cast<size_t>(open)] = count / known;
    require(count % known == 0,
            "Input to reshape is a SparseTensor with {} dense values, but the requested shape requires a multiple of "
            "{}. input_shape={} output_shape={}",
            count, known, text_of(from), text_of(out));
  }
  require(count_of(out) == count,
          "Input to reshape is a tensor with {} dense values, but the requested shape has {}. input_shape={} "
          "output_shape={}",
          count, count_of(out), text_of(from), text_of(out));
  return out;
}

void check_reshape(const Lowering& l) {
  require(l.shape(0).size() == 2, "Input must be a matrix.");
  require(l.shape(1).size() == 1, "Input shape must be a vector.");
  require(l.shape(0)[1] == l.shape(1)[0], "Input tensor rank must match input shape length.");
  require(l.shape(2).size() == 1, "Target shape should be a vector but received shape {}", text_of(l.shape(2)));
}

void reshape(Lowering& l) {
  check_reshape(l);
  const Planned indices = l.input(0), from = l.input(1), asked = l.input(2);
  const int64_t count = l.shape(0)[0], rank = l.shape(2)[0];
  const Planned out = l.make(0, DType::kInt64, {count, rank}), sizes = l.make(1, DType::kInt64, {rank});
  l.run({indices, from, asked}, {out, sizes}, [=](Frame& frame) {
    const Dims before(integers(frame, from)), after = reshaped_sizes(before, integers(frame, asked));
    std::copy(after.begin(), after.end(), frame.tensor(sizes).as<int64_t>());
    const Positions positions(integers(frame, indices), before.size());
    auto* to = frame.tensor(out).as<int64_t>();
    for (size_t i = 0; i < static_cast<size_t>(count); ++i, to += rank) {
      int64_t place = place_of(positions[i], before);
      for (size_t d = after.size(); d-- > 0; place /= std::max<int64_t>(after[d], 1))
        to[d] = place % std::max<int64_t>(after[d], 1);
    }
  });
}

/// Elements in the order of their positions.
void reorder(Lowering& l) {
  require(l.shape(0).size() == 2, "Input indices should be a matrix but received shape {}", text_of(l.shape(0)));
  require(l.shape(1).size() == 1, "Input values should be a vector but received shape {}", text_of(l.shape(1)));
  require(l.shape(2).size() == 1, "Input shape should be a vector but received shape {}", text_of(l.shape(2)));
  require(l.shape(0)[0] == l.shape(1)[0] && l.shape(0)[1] == l.shape(2)[0],
          "indices are {}, values {}, the shape {}: they belong to different tensors", text_of(l.shape(0)),
          text_of(l.shape(1)), text_of(l.shape(2)));
  const Planned indices = l.input(0), values = l.input(1);
  const Planned places = l.make(0, DType::kInt64, l.shape(0)), out = l.make(1, l.dtype(1), l.shape(1));
  l.run({indices, values}, {places, out}, [=](Frame& frame) {
    const Positions positions(integers(frame, indices), static_cast<size_t>(indices.shape()[1]));
    std::vector<size_t> order(static_cast<size_t>(indices.shape()[0]));
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, [&](size_t a, size_t b) { return positions.before(a, b); });
    const Elements given(frame, values);
    auto* to = frame.tensor(places).as<int64_t>();
    for (size_t i = 0; i < order.size(); ++i) {
      to = std::ranges::copy(positions[order[i]], to).out;
      put(frame.tensor(out), static_cast<int64_t>(i), given[static_cast<int64_t>(order[i])]);
    }
  });
}

NPU_NODE("SparseToDense", to_dense);
NPU_NODE("SparseFillEmptyRows", fill_empty_rows);
NPU_NODE("SparseFillEmptyRowsGrad", fill_empty_rows_grad);
NPU_NODE("SparseReshape", reshape);
NPU_NODE("SparseReorder", reorder);

}  // namespace
}  // namespace npu::graph
