// SPDX-License-Identifier: Apache-2.0
#include "graph/value/tensor_list.h"

#include <cstring>

#include "base/error.h"
#include "graph/value/arithmetic.h"

namespace npu::graph {
namespace {

Value zeros(int device, DType dtype, const Dims& shape) {
  Value value = make_value(device, dtype, shape);
  std::memset(value.tensor.bytes(), 0, static_cast<size_t>(bytes_of(value.tensor)));
  return value;
}

}  // namespace

PartialShape merged(const PartialShape& a, const PartialShape& b) {
  if (!a.rank_known()) return b;
  if (!b.rank_known()) return a;
  const auto clash = [&] {
    fail(Code::kNnInvalidParam, "shapes {} and {} do not fit together", to_string(a), to_string(b));
  };
  if (a.dims->size() != b.dims->size()) clash();
  PartialShape out = a;
  for (size_t i = 0; i < a.dims->size(); ++i) {
    int64_t& size = (*out.dims)[i];
    if (size == kUnknownDim)
      size = (*b.dims)[i];
    else if ((*b.dims)[i] != kUnknownDim && (*b.dims)[i] != size)
      clash();
  }
  return out;
}

ListType::ListType(ValueType element_type, PartialShape element_shape)
    : element(element_type), declared(std::move(element_shape)) {
  if (declared.known()) shape = *declared.dims;
}

void ListType::hold(const Dims& element_shape) {
  merged(declared, {element_shape});
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
  elements[at] = std::move(element);
}

void TensorList::push_back(Value element) {
  require(most < 0 || std::cmp_less(elements.size(), most), "the list is full: it may have {} elements", most);
  if (!element.object) type.hold(element.tensor.shape);
  elements.push_back(std::move(element));
}

size_t TensorList::position(int64_t index) const {
  require(index >= 0 && std::cmp_less(index, elements.size()), "element {} of a list of {} is asked for", index,
          elements.size());
  return static_cast<size_t>(index);
}

Value element_of(int device, const TensorList& list, size_t at, const PartialShape& asked) {
  if (list.is_set(at)) return list.elements[at];
  require(list.type.element.is_tensor(), "element {} was never set", at);
  PartialShape shape = merged(list.type.declared, asked);
  for (size_t i = 0; i < list.elements.size() && !shape.known(); ++i)
    if (list.is_set(i)) shape = merged(shape, {list.elements[i].tensor.shape});
  if (!shape.known() && list.type.shape) shape.dims = list.type.shape;
  require(shape.known(), "element {} was never set, and of its shape only {} is known", at, to_string(shape));
  return zeros(device, list.type.element.dtype, *shape.dims);
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
    require(!list.is_set(at) || from.shape == shape, "element {} is {}; the others have the shape {}", at, from, shape);
    if (bytes > 0 && list.is_set(at)) std::memcpy(to, from.bytes(), bytes);
    if (bytes > 0 && !list.is_set(at)) std::memset(to, 0, bytes);
    to += bytes;
  }
}

std::shared_ptr<TensorList> add_lists(int device, const TensorList& a, const TensorList& b) {
  require(a.elements.size() == b.elements.size(), "lists of {} and {} elements cannot be added", a.elements.size(),
          b.elements.size());
  ListType type = a.type;
  type.declared = merged(a.type.declared, b.type.declared);
  type.join(b.type);
  auto out = std::make_shared<TensorList>(std::move(type));
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
    if (list.is_set(i)) out->elements[i] = zeros_like(device, list.elements[i]);
  return out;
}

std::shared_ptr<Object> TensorList::zeros(int device) const { return zeros_like(device, *this); }

std::shared_ptr<Object> TensorList::plus(int device, const Object& other) const {
  const auto* second = dynamic_cast<const TensorList*>(&other);
  return second == nullptr ? nullptr : add_lists(device, *this, *second);
}

}  // namespace npu::graph
