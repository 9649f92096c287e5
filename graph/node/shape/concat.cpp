// SPDX-License-Identifier: Apache-2.0
// Tensors side by side and taken apart. Parts are views, nothing is copied.
#include <algorithm>

#include "graph/node/layout.h"

namespace npu::graph {
namespace {

void join(Lowering& l, const std::vector<Planned>& parts, size_t axis, const Dims& shape) {
  const bool images = std::ranges::all_of(parts, lies_channels_last);
  const DType dtype = parts.front().dtype();
  const Planned out = images ? make_images(l, 0, dtype, shape) : l.make(0, dtype, shape);
  int64_t at = 0;
  for (const Planned& part : parts) {
    const int64_t size = part.shape()[axis];
    if (part.view.count() > 0) copy(l, part, narrowed(out, axis, at, size));
    at += size;
  }
}

void concat(Lowering& l, std::vector<Planned> parts, size_t axis_at) {
  decline_objects(l);
  require(!parts.empty(), "there is nothing to join");
  const size_t rank = parts.front().shape().size();
  const size_t axis = axis_input(l, axis_at, rank);
  Dims shape = parts.front().shape();
  shape[axis] = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    const Dims& other = parts[i].shape();
    require(other.size() == rank, "values 0 and {} are {} and {}: they differ in rank", i, parts.front().shape(),
            other);
    for (size_t d = 0; d < rank; ++d)
      require(d == axis || other[d] == shape[d], "values 0 and {} are {} and {}: dimension {} differs", i,
              parts.front().shape(), other, d);
    shape[axis] += other[axis];
  }
  if (parts.size() == 1) return give(l, 0, parts.front());
  join(l, parts, axis, shape);
}

void concat_v2(Lowering& l) {
  std::vector<Planned> parts = l.inputs();
  parts.pop_back();
  concat(l, std::move(parts), l.input_count() - 1);
}

void concat_v1(Lowering& l) {
  std::vector<Planned> parts = l.inputs();
  parts.erase(parts.begin());
  concat(l, std::move(parts), 0);
}

/// Where each of the shapes begins in what they are joined to.
void concat_offset(Lowering& l) {
  require(l.shape(0).empty(), "the dimension is given as {}; it is a number", l.shape(0));
  for (size_t i = 1; i < l.input_count(); ++i)
    require(l.shape(i).size() == 1, "shape {} is given as {}; it is a vector of sizes", i - 1, l.shape(i));
  const std::vector<int64_t> first = l.integers(1);
  const size_t axis = axis_input(l, 0, first.size());
  int64_t at = 0;
  for (size_t i = 1; i < l.input_count(); ++i) {
    const std::vector<int64_t> shape = l.integers(i);
    require(shape.size() == first.size(), "shapes 0 and {} have {} and {} dimensions", i - 1, first.size(),
            shape.size());
    std::vector<int64_t> offset(shape.size());
    for (size_t d = 0; d < shape.size(); ++d)
      require(d == axis || shape[d] == first[d], "shapes 0 and {} differ in dimension {}: {} and {}", i - 1, d,
              first[d], shape[d]);
    offset[axis] = at;
    at += shape[axis];
    l.constant(i - 1, integer_literal(l.dtype(i), {static_cast<int64_t>(offset.size())}, offset));
  }
}

void take_apart(Lowering& l, const Planned& in, size_t axis, const std::vector<int64_t>& sizes) {
  int64_t at = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    give(l, i, narrowed(in, axis, at, sizes[i]));
    at += sizes[i];
  }
}

void split(Lowering& l) {
  decline_objects(l);
  const Planned in = l.input(1);
  const size_t axis = axis_input(l, 0, in.shape().size());
  const auto count = static_cast<int64_t>(l.node().outputs.size());
  const int64_t size = in.shape()[axis];
  require(size % count == 0, "dimension {} of {} cannot be split into {} equal parts", axis, in.shape(), count);
  take_apart(l, in, axis, std::vector<int64_t>(static_cast<size_t>(count), size / count));
}

void split_v(Lowering& l) {
  decline_objects(l);
  const Planned in = l.input(0);
  std::vector<int64_t> sizes = l.integers(1);
  const size_t axis = axis_input(l, 2, in.shape().size());
  require(sizes.size() == l.node().outputs.size(), "{} sizes for {} parts", sizes.size(), l.node().outputs.size());
  int64_t sum = 0, open = -1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    require(sizes[i] >= -1, "a size of {} is asked for", sizes[i]);
    require(sizes[i] >= 0 || open < 0, "two sizes are -1; only one can follow from the others");
    if (sizes[i] < 0)
      open = static_cast<int64_t>(i);
    else
      sum += sizes[i];
  }
  const int64_t size = in.shape()[axis];
  require(open < 0 ? sum == size : sum <= size, "the sizes add up to {}, dimension {} of {} is {}", sum, axis,
          in.shape(), size);
  if (open >= 0) sizes[static_cast<size_t>(open)] = size - sum;
  take_apart(l, in, axis, sizes);
}

void pack(Lowering& l) {
  decline_objects(l);
  const Dims& one = l.shape(0);
  const size_t axis = checked_axis(l.attributes().get_or<int64_t>("axis", 0), one.size() + 1);
  Dims shape = one;
  shape.insert(axis, static_cast<int64_t>(l.input_count()));
  const Planned out = l.make(0, l.dtype(0), shape);
  for (size_t i = 0; i < l.input_count(); ++i) {
    require(l.shape(i) == one, "values 0 and {} are {} and {}; all must have the same shape", i, one, l.shape(i));
    copy(l, l.input(i), without_axis(out, axis, static_cast<int64_t>(i)));
  }
}

void unpack(Lowering& l) {
  decline_objects(l);
  const Planned in = l.input(0);
  const size_t axis = checked_axis(l.attributes().get_or<int64_t>("axis", 0), in.shape().size());
  require(in.shape()[axis] == static_cast<int64_t>(l.node().outputs.size()), "dimension {} of {} is not {}", axis,
          in.shape(), l.node().outputs.size());
  for (size_t i = 0; i < l.node().outputs.size(); ++i) give(l, i, without_axis(in, axis, static_cast<int64_t>(i)));
}

NPU_NODE("ConcatV2", concat_v2);
NPU_NODE("Concat", concat_v1);
NPU_NODE("ConcatOffset", concat_offset);
NPU_NODE("Split", split);
NPU_NODE("SplitV", split_v);
NPU_NODE("Pack", pack);
NPU_NODE("Unpack", unpack);

}  // namespace
}  // namespace npu::graph
