// SPDX-License-Identifier: Apache-2.0
// Views of the client's tensors.
#include <algorithm>

#include "acl/aclnn/object.h"
#include "acl/singleop/function.h"
#include "base/error.h"

namespace npu::acl {
namespace {

// Without a flag the tensor stays as it is: attributes that are left out mean no.
Value transposed(const Arguments& a) {
  const Tensor& x = tensor_of(a[0]);
  if (!a[1].value.given() || !truth_of(a[1].value, a[1].name)) return a[0].value;
  if (x.rank() < 2) fail(Code::kInvalidParam, "{} is {}; it needs two axes to be transposed", a[0].name, x);
  return tensor_value(x.transposed(x.rank() - 2, x.rank() - 1), a[0]);
}

Value strided(const Arguments& a) {
  const Tensor& x = tensor_of(a[0]);
  const std::vector<int64_t> sizes = list_of(a[1]), strides = list_of(a[2]);
  const int64_t offset = a[3].value.given() ? number_of(a[3]) : 0;
  if (sizes.size() != strides.size() || sizes.size() > kMaxRank)
    fail(Code::kInvalidParam, "{} has {} members, {} has {}; both must have as many, and at most {}", a[1].name,
         sizes.size(), a[2].name, strides.size(), kMaxRank);
  // The view is checked against memory here: kernels walk strides without looking.
  const auto negative = [](int64_t n) { return n < 0; };
  if (offset < 0 || std::any_of(sizes.begin(), sizes.end(), negative) ||
      std::any_of(strides.begin(), strides.end(), negative))
    fail(Code::kInvalidParam, "sizes [{}], strides [{}] and the offset {} must not be negative", fmt::join(sizes, ", "),
         fmt::join(strides, ", "), offset);
  Tensor view = x.view(Dims(std::span(sizes)), Dims(std::span(strides)));
  view.offset += std::min(offset, x.storage_elements);  // beyond it is refused below, unless nothing is there
  check_reach(view);
  if (view.count() > 0 && view.offset + view.span() > x.storage_elements)
    fail(Code::kInvalidParam, "sizes [{}] with strides [{}] from element {} reach behind the {} elements of {}",
         fmt::join(sizes, ", "), fmt::join(strides, ", "), offset, x.storage_elements, a[0].name);
  return tensor_value(std::move(view), a[0]);
}

Dims row_major(const Dims& shape) {
  // Sizes of 0 count as 1, so that strides of an empty tensor are what others make them.
  Dims strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * std::max<int64_t>(shape[i], 1);
  return strides;
}

// Both come as the client's buffers hold them: dense and row-major.
Value shaped(const Arguments& a) {
  const Tensor &x = tensor_of(a[0]), &y = tensor_of(a[1]);
  if (x.count() != y.count())
    fail(Code::kInvalidParam, "{} is {}, {} is {}; they must have as many elements", a[0].name, x, a[1].name, y);
  return tensor_value(x.view(y.shape, row_major(y.shape)), a[0]);
}

Value flattened(const Arguments& a) {
  const Tensor& x = tensor_of(a[0]);
  const int64_t given = number_of(a[1]), rank = static_cast<int64_t>(x.rank()), axis = given < 0 ? given + rank : given;
  if (axis < 0 || axis > rank) fail(Code::kInvalidParam, "{} is {}; {} has {} axes", a[1].name, given, x, rank);
  Dims matrix{1, 1};
  for (int64_t i = 0; i < rank; ++i) matrix[i < axis ? 0 : 1] *= x.shape[static_cast<size_t>(i)];
  return tensor_value(x.view(matrix, row_major(matrix)), a[0]);
}

Value sliced(const Arguments& a) {
  const Tensor& x = tensor_of(a[0]);
  const std::vector<int64_t> begin = list_of(a[1]), sizes = list_of(a[2]);
  if (begin.size() != x.rank() || sizes.size() != x.rank())
    fail(Code::kInvalidParam, "{} has {} members and {} has {}; {} needs one for each axis", a[1].name, begin.size(),
         a[2].name, sizes.size(), x);
  Tensor block = x;
  for (size_t i = 0; i < x.rank(); ++i) {
    const bool inside = begin[i] >= 0 && begin[i] <= x.shape[i];
    const int64_t rest = inside ? x.shape[i] - begin[i] : 0, size = sizes[i] == -1 ? rest : sizes[i];
    if (!inside || size < 0 || size > rest)
      fail(Code::kInvalidParam, "offset {} and size {} leave axis {} of {}", begin[i], sizes[i], i, x);
    block.shape[i] = size;
    block.offset += begin[i] * x.strides[i];
  }
  return tensor_value(std::move(block), a[0]);
}

Value swapped(const Arguments& a) {
  const Tensor& x = tensor_of(a[0]);
  return tensor_value(x.transposed(axis_of(a[1], x), axis_of(a[2], x)), a[0]);
}

Value squeezed(const Arguments& a) {
  const Tensor& x = tensor_of(a[0]);
  const size_t axis = axis_of(a[1], x);
  if (x.shape[axis] != 1) fail(Code::kInvalidParam, "{} is {}; axis {} must have one element", a[0].name, x, axis);
  Tensor flat = x;
  flat.shape.erase(axis);
  flat.strides.erase(axis);
  return tensor_value(std::move(flat), a[0]);
}

Tensor with_axis(const Tensor& x, const NamedValue& place) {
  Tensor deep = x.view(x.shape, x.strides);
  deep.shape.push_back(1);
  deep.strides.push_back(1);
  // Where the new axis goes counts the new one too, as in torch.
  const size_t axis = axis_of(place, deep);
  std::rotate(deep.shape.begin() + axis, deep.shape.end() - 1, deep.shape.end());
  std::rotate(deep.strides.begin() + axis, deep.strides.end() - 1, deep.strides.end());
  return deep;
}

Value unsqueezed(const Arguments& a) {
  const auto* list = std::get_if<std::vector<Tensor>>(&a[0].value.content);
  if (list == nullptr) return tensor_value(with_axis(tensor_of(a[0]), a[1]), a[0]);
  std::vector<Tensor> deep;
  for (const Tensor& x : *list) deep.push_back(with_axis(x, a[1]));
  return {.content = std::move(deep)};
}

Value joined(const Arguments& a) {
  const Tensor& x = tensor_of(a[0]);
  const size_t first = axis_of(a[1], x), last = axis_of(a[2], x);
  Dims sizes(x.shape);
  for (size_t i = first; i < last; ++i) {
    sizes[first + 1] *= sizes[first];
    sizes.erase(first);
  }
  return tensor_value(x.view(sizes, row_major(sizes)), a[0]);
}

Value gridded(const Arguments& a) {
  const Tensor& y = tensor_of(a[0]);
  const std::vector<int64_t> size = list_of(a[1]);
  Dims sizes;
  for (size_t i = 0; i < size.size(); ++i)
    if (i != 1) sizes.push_back(size[i]);
  sizes.push_back(static_cast<int64_t>(size.size()) - 2);
  if (count_of(sizes) != y.count())
    fail(Code::kInvalidParam, "{} is {}; a grid over {} is {}", a[0].name, y, a[1].name, to_string(sizes));
  return tensor_value(y.view(sizes, row_major(sizes)), a[0]);
}

Value diagonal(const Arguments& a) {
  const Tensor& x = tensor_of(a[0]);
  const int64_t above = number_of(a[1]);
  if (x.rank() != 2) fail(Code::kInvalidParam, "{} is {}; a diagonal needs a matrix", a[0].name, x);
  const int64_t row = std::max<int64_t>(-above, 0), column = std::max<int64_t>(above, 0);
  const int64_t length = std::max<int64_t>(std::min(x.shape[0] - row, x.shape[1] - column), 0);
  Tensor line = x.view(Dims{length}, Dims{x.strides[0] + x.strides[1]});
  if (length > 0) line.offset += row * x.strides[0] + column * x.strides[1];
  return tensor_value(std::move(line), a[0]);
}

Value placed(const Arguments& a) {
  const auto* given = std::get_if<std::vector<Tensor>>(&a[0].value.content);
  const std::vector<int64_t> mask = list_of(a[1]);
  const auto ones = std::count(mask.begin(), mask.end(), 1);
  if (given == nullptr || static_cast<size_t>(ones) != given->size())
    fail(Code::kInvalidParam, "{} are {} tensors, {} is [{}]; there is one tensor for each 1", a[0].name,
         given == nullptr ? 0 : given->size(), a[1].name, fmt::join(mask, ", "));
  std::vector<Tensor> all;
  size_t next = 0;
  for (const int64_t there : mask) all.push_back(there == 1 ? (*given)[next++] : Tensor());
  return {.content = std::move(all)};
}

Value wanted(const Arguments& a) {
  if (!a[1].value.given() || truth_of(a[1].value, a[1].name)) return a[0].value;
  return {};
}

constexpr Function kViews[] = {
    {"transposed", 2, transposed}, {"strided", 4, strided},   {"shaped", 2, shaped, true},   {"sliced", 3, sliced},
    {"swapped", 3, swapped},       {"squeezed", 2, squeezed}, {"unsqueezed", 2, unsqueezed}, {"joined", 3, joined},
    {"gridded", 2, gridded},       {"diagonal", 2, diagonal}, {"placed", 2, placed},         {"wanted", 2, wanted},
    {"flattened", 2, flattened},
};

}  // namespace

std::span<const Function> view_functions() { return kViews; }

}  // namespace npu::acl
