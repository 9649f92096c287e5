// SPDX-License-Identifier: Apache-2.0
#include "graph/value/tensor_list.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "graph/value/arithmetic.h"
#include "graph/value/client_text.h"

namespace npu::graph {
namespace {

Value zeros(int device, DType dtype, const Dims& shape) {
  Value value = make_value(device, dtype, shape);
  std::memset(value.tensor.bytes(), 0, static_cast<size_t>(bytes_of(value.tensor)));
  return value;
}

/// Zeros in the place of an element of `list` that was never set. `missing` and `behind`: around the shape, in the
/// sentence that refuses one that is not known.
Value unset(int device, const TensorList& list, const PartialShape& shape, const char* missing, const char* behind) {
  require(list.type.element.is_tensor(), "the element was never set; a list in a list has no zeros. Set it first");
  require(shape.known(),
          "Trying to read an uninitialized tensor but element_shape is not fully defined{}{}{}; set the "
          "element first, or give its element_shape",
          missing, client_text(shape), behind);
  return zeros(device, list.type.element.dtype, *shape.dims);
}

bool same_size(int64_t a, int64_t b) { return a == b || a == kUnknownDim || b == kUnknownDim; }

}  // namespace

bool compatible(const PartialShape& a, const PartialShape& b) {
  return !a.rank_known() || !b.rank_known() ||
         std::equal(a.dims->begin(), a.dims->end(), b.dims->begin(), b.dims->end(), same_size);
}

PartialShape merged(const PartialShape& a, const PartialShape& b) {
  if (!a.rank_known()) return b;
  if (!b.rank_known()) return a;
  require(a.dims->size() == b.dims->size(), "PartialTensorShape: Incompatible ranks during merge: {} vs. {}",
          a.dims->size(), b.dims->size());
  if (!compatible(a, b))
    fail(Code::kNnInvalidParam, "PartialTensorShape: Incompatible shapes during merge: {} vs. {}", client_text(a),
         client_text(b));
  PartialShape out = a;
  for (size_t i = 0; i < a.dims->size(); ++i) (*out.dims)[i] = std::max((*a.dims)[i], (*b.dims)[i]);
  return out;
}

ListType sum_type(const ListType& a, const ListType& b) {
  require(a.element == b.element,
          "Trying to add two lists of tensors of different dtypes. One is {} and the other is {}",
          client_text(a.element), client_text(b.element));
  require(compatible(a.declared, b.declared),
          "Trying to add two lists of tensors with incompatible element shapes. One is {} and the other is {}",
          client_text(a.declared), client_text(b.declared));
  ListType type = a;
  type.declared = merged(a.declared, b.declared);
  type.join(b);
  return type;
}

ListType::ListType(ValueType element_type, PartialShape element_shape)
    : element(element_type), declared(std::move(element_shape)) {
  if (declared.known()) shape = *declared.dims;
}

void ListType::hold(const Dims& element_shape) {
  if (!shape && !mixed) shape = element_shape;
  if (shape && !(*shape == element_shape)) mixed = true, shape.reset();
}

void ListType::join(const ListType& other) {
  require(element == other.element, "one list holds {}, the other {}", to_string(element), to_string(other.element));
  if (other.shape) hold(*other.shape);
  if (other.mixed) mixed = true, shape.reset();
  gaps = gaps || other.gaps;
}

std::optional<Dims> ListType::element_shape(const PartialShape& asked) const {
  if (mixed) return std::nullopt;
  if (!needs_asked()) return shape;
  if (!compatible(declared, asked)) return std::nullopt;  // refused where an element has that shape
  const PartialShape all = merged(declared, asked);
  return all.known() && (!shape || *shape == *all.dims) ? all.dims : std::nullopt;
}

std::string ListType::text() const {
  const std::string known = to_string(element) + to_string(declared) + (gaps ? " with gaps" : "");
  if (mixed) return known + " mixed";
  return shape ? known + " " + to_string(PartialShape{*shape}) : known;
}

void ListType::add_to(std::string& key) const {
  const auto add = [&](const auto& number) { key.append(reinterpret_cast<const char*>(&number), sizeof number); };
  const auto add_shape = [&](const std::optional<Dims>& dims) {
    add(static_cast<int8_t>(dims ? static_cast<int>(dims->size()) : -1));
    if (dims) key.append(reinterpret_cast<const char*>(dims->data()), dims->size() * sizeof(int64_t));
  };
  key += mixed ? 'm' : 'l';
  key += gaps ? 'g' : '-';
  add(element.kind), add(element.dtype);
  add_shape(declared.dims), add_shape(shape);
}

std::string TensorList::traits() const { return "list of " + type.text(); }

void TensorList::add_traits(std::string& key) const { type.add_to(key); }

void TensorList::set(size_t at, Value element) {
  if (!element.object) type.hold(element.tensor.shape);
  elements.set(at, std::move(element));
}

void TensorList::push_back(Value element) {
  require(most < 0 || std::cmp_less(elements.size(), most),
          "Tried to push item into a full list list size: {} max_num_elements: {}", elements.size(), most);
  if (!element.object) type.hold(element.tensor.shape);
  elements.push_back(std::move(element));
}

size_t TensorList::position(int64_t index) const {
  require(contains(index), "Trying to access element {} in a list with {} elements.", index, elements.size());
  return static_cast<size_t>(index);
}

PartialShape merged_with_element(const PartialShape& shape, const TensorList& list, size_t at) {
  return list.is_set(at) ? merged(shape, {list.elements[at].tensor.shape}) : shape;
}

Value unset_element(int device, const TensorList& list, const PartialShape& asked) {
  PartialShape shape = merged(asked, list.type.declared);
  if (!shape.known())
    for (size_t i = 0; i < list.elements.size(); ++i) shape = merged_with_element(shape, list, i);
  return unset(device, list, shape, ": ", " and no list element is set.");
}

Value unset_last(int device, const TensorList& list, const PartialShape& asked) {
  return unset(device, list, merged(asked, list.type.declared), ".", "");
}

Value row_of(const Value& tensor, int64_t at) {
  Dims shape = tensor.tensor.shape;
  shape.erase(0);
  Value row{tensor.tensor.view(shape, contiguous_strides(shape)), tensor.owner, nullptr};
  row.tensor.offset += at * count_of(shape);
  return row;
}

void stack_into(const Tensor& out, const TensorList& list, const std::vector<size_t>& positions, const Dims& shape) {
  std::byte* to = out.bytes();
  const auto bytes = static_cast<size_t>(count_of(shape)) * size_of(out.dtype);
  for (const size_t at : positions) {
    const Tensor& from = list.elements[at].tensor;
    if (list.is_set(at) && !(from.shape == shape))
      fail(Code::kNnInvalidParam,
           "element {} has the shape {}; the elements that are stacked have {}. Stack elements of one shape", at,
           client_text(from.shape), client_text(shape));
    if (bytes > 0 && list.is_set(at)) std::memcpy(to, from.bytes(), bytes);
    if (bytes > 0 && !list.is_set(at)) std::memset(to, 0, bytes);
    to += bytes;
  }
}

std::shared_ptr<TensorList> add_lists(int device, const TensorList& a, const TensorList& b) {
  auto out = std::make_shared<TensorList>(sum_type(a.type, b.type));
  require(a.elements.size() == b.elements.size(),
          "Trying to add two lists of tensors with different lengths. One is {} and the other is {}", a.elements.size(),
          b.elements.size());
  for (size_t i = 0; i < a.elements.size(); ++i) {
    const Value &x = a.elements[i], &y = b.elements[i];
    if (!a.is_set(i) || !b.is_set(i))
      out->elements.push_back(a.is_set(i) ? x : y);
    else
      out->elements.push_back(sum_of(device, x, y));
  }
  return out;
}

std::shared_ptr<TensorList> zeros_like(int device, const TensorList& list) {
  auto out = std::make_shared<TensorList>(list.type);
  out->elements.resize(list.elements.size());
  for (size_t i = 0; i < list.elements.size(); ++i)
    if (list.is_set(i)) out->elements.set(i, zeros_like(device, list.elements[i]));
  return out;
}

std::shared_ptr<Object> TensorList::zeros(int device) const { return zeros_like(device, *this); }

std::shared_ptr<Object> TensorList::plus(int device, const Object& other) const {
  const auto* second = dynamic_cast<const TensorList*>(&other);
  return second == nullptr ? nullptr : add_lists(device, *this, *second);
}

}  // namespace npu::graph
