// SPDX-License-Identifier: Apache-2.0
#include "graph/value/tensor_array.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <numeric>

#include "base/error.h"
#include "graph/value/client_text.h"
#include "graph/value/element_limit.h"
#include "ops/runner/call.h"

namespace npu::graph {
namespace {

/// Beyond this many bytes elements lie each on its own: most of a long array may never be written.
constexpr int64_t kLargestBlock = int64_t{256} << 20;

Value zeros_of(int device, DType dtype, const Dims& shape) {
  Value value = make_value(device, dtype, shape);
  std::memset(value.tensor.bytes(), 0, static_cast<size_t>(bytes_of(value.tensor)));
  return value;
}

Dims with_outer(const Dims& outer, const Dims& inner) {
  Dims out = outer;
  for (const int64_t size : inner) out.push_back(size);
  return out;
}

Dims without_first(Dims shape) {
  shape.erase(0);
  return shape;
}

void copy_into(const Tensor& to, const Tensor& from) {
  if (!from.contiguous())
    ops::Call("copy").set("self", ops::Operand{from, {}}).set("out", to).run();
  else if (const int64_t bytes = bytes_of(from); bytes > 0)
    std::memcpy(to.bytes(), from.bytes(), static_cast<size_t>(bytes));
}

/// Row-major values of one dtype, one behind the other.
Value joined(int device, DType dtype, const Dims& shape, const std::vector<Value>& values) {
  Value out = make_value(device, dtype, shape);
  std::byte* to = out.tensor.bytes();
  for (const Value& value : values) {
    const auto bytes = static_cast<size_t>(bytes_of(value.tensor));
    if (bytes > 0) std::memcpy(to, value.tensor.bytes(), bytes);
    to += bytes;
  }
  return out;
}

/// `count` rows of `whole` from `first` on.
Value some_rows(const Value& whole, int64_t first, int64_t count) {
  Value part = whole;
  part.tensor.shape[0] = count;
  part.tensor.offset += first * count_of(without_first(whole.tensor.shape));
  return part;
}

}  // namespace

TensorArray::TensorArray(int device, ListType elements, int64_t size, Form form)
    : device_(device), form_(std::move(form)), type_(std::move(elements)) {
  require(size >= 0, "Size should be >= 0.");
  check_element_count(size);
  elements_.resize(static_cast<size_t>(size));
}

std::shared_ptr<TensorArray> TensorArray::make(int device, ListType elements, int64_t size, Form form) {
  static std::atomic<int64_t> arrays = 0;
  form.name += fmt::format("_{}", arrays.fetch_add(1, std::memory_order_relaxed));
  return std::make_shared<TensorArray>(device, std::move(elements), size, std::move(form));
}

ListType TensorArray::type() const {
  const std::lock_guard lock(mutex_);
  return type_;
}

int64_t TensorArray::size() const {
  const std::lock_guard lock(mutex_);
  check_open();
  return count();
}

std::string TensorArray::traits() const {
  const std::lock_guard lock(mutex_);
  std::string text = "array of " + type_.text();
  for (const auto& [source, array] : gradients_) text += ", gradients " + source + ": " + array->type().text();
  return text;
}

/// Gradients whose elements are as those of the array are what a plan expects that makes them: nothing is said of them.
void TensorArray::add_traits(std::string& key) const {
  const std::lock_guard lock(mutex_);
  key += 'a';
  type_.add_to(key);
  for (const auto& [source, array] : gradients_) {
    const ListType type = array->type();
    if (type.shape == type_.shape && type.mixed == type_.mixed) continue;
    key += source + ':';
    type.add_to(key);
  }
}

void TensorArray::check_open() const { require(!closed_, "TensorArray {} has already been closed.", form_.name); }

void TensorArray::make_longer(int64_t index) {
  require(index >= 0 && (can_grow() || index < count()),
          "TensorArray {}: Tried to write to index {} but array is not resizeable and size is: {}", form_.name, index,
          count());
  check_element_count(index + 1);
  if (index >= count()) elements_.resize(static_cast<size_t>(index) + 1);
}

void TensorArray::fit(int64_t index, const Dims& shape) {
  require(compatible(type_.declared, {shape}),
          "TensorArray {}: Could not write to TensorArray index {} because the value shape is {} which is incompatible "
          "with the TensorArray's inferred element shape: {} (consider setting infer_shape=False).",
          form_.name, index, client_text(shape), client_text(type_.declared));
  if (form_.alike) type_.declared.dims = shape;
  type_.hold(shape);
}

void TensorArray::set_shape(Element& element, const Dims& shape) {
  if (!some_) usual_ = shape, some_ = true;
  if (shape == usual_)
    element.alone.reset();
  else
    element.alone = std::make_unique<Alone>(Alone{{}, shape});
}

/// The element at `index`, to which a value of this shape may be written or added.
TensorArray::Element& TensorArray::writable(int64_t index, const Dims& shape) {
  check_open();
  make_longer(index);
  fit(index, shape);
  Element& element = at(index);
  require(!element.read, "TensorArray {}: Could not write to TensorArray index {} because it has already been read.",
          form_.name, index);
  require(form_.sums || !element.written,
          "TensorArray {}: Could not write to TensorArray index {} because it has already been written to.", form_.name,
          index);
  require(!element.written || shape_of(element) == shape,
          "TensorArray {}: Could not aggregate to TensorArray index {} because the existing shape is {} but the new "
          "input shape is {}.",
          form_.name, index, client_text(shape_of(element)), client_text(shape));
  if (!element.written) set_shape(element, shape);
  element.written = true;
  return element;
}

/// Another block of so many rows. What is in the old one stays where it is when that is somebody else's.
void TensorArray::move_block(int64_t rows, const Dims& shape) {
  const Value before = std::exchange(block_, make_value(device_, type_.element.dtype, with_outer({rows}, shape)));
  for (int64_t i = 0; i < count(); ++i) {
    Element& element = at(i);
    if (!element.in_block) continue;
    if (own_block_ && !element.cleared)
      copy_into(row_of(block_, i).tensor, row_of(before, i).tensor);
    else if (!element.cleared)
      element.alone = std::make_unique<Alone>(Alone{row_of(before, i), shape_of(element)});
    element.in_block = own_block_;
  }
  own_block_ = true;
}

/// Whether the block has, or gets, a row for the element at `index`.
bool TensorArray::make_room(int64_t index, const Dims& shape) {
  if (type_.mixed) return false;
  if (own_block_ && index < block_.tensor.shape[0]) return true;
  const int64_t rows = can_grow() ? std::max(count(), 2 * (index + 1)) : count();
  const int64_t row = std::max<int64_t>(count_of(shape), 1) * static_cast<int64_t>(size_of(type_.element.dtype));
  if (rows > kLargestBlock / row) return false;
  move_block(rows, shape);
  return true;
}

void TensorArray::keep_copy(int64_t index, const Tensor& tensor) {
  Element& element = at(index);
  element.in_block = make_room(index, tensor.shape);
  element.own = true;
  if (element.in_block) {
    copy_into(row_of(block_, index).tensor, tensor);
    element.alone.reset();
  } else {
    element.alone = std::make_unique<Alone>(Alone{copy_of(device_, tensor), tensor.shape});
  }
}

void TensorArray::add(int64_t index, const Tensor& tensor) {
  require(type_.element.dtype != DType::kBool, "tensor_array::AddToTensor type not supported: bool");
  const Value before = held(index);
  if (!at(index).own) keep_copy(index, before.tensor);
  const Tensor sum = held(index).tensor;
  ops::Call("add").set("self", ops::Operand{sum, {}}).set("other", ops::Operand{tensor, {}}).set("out", sum).run();
}

void TensorArray::write(int64_t index, const Tensor& tensor) {
  const std::lock_guard lock(mutex_);
  const bool has_value = writable(index, tensor.shape).has_value();
  has_value ? add(index, tensor) : keep_copy(index, tensor);
}

void TensorArray::put_view(int64_t index, Value value) {
  Element& element = writable(index, value.tensor.shape);
  if (element.has_value()) return add(index, value.tensor);
  const Dims shape = value.tensor.shape;
  element.alone = std::make_unique<Alone>(Alone{std::move(value), shape});
  element.own = false;
}

/// Whether these are all positions in order, and nothing was written to any.
bool TensorArray::takes_whole(std::span<const int64_t> positions, const Dims& row) const {
  if (positions.empty() || std::cmp_not_equal(positions.size(), count()) || own_block_) return false;
  for (int64_t i = 0; i < count(); ++i) {
    const Element& element = at(i);
    if (positions[static_cast<size_t>(i)] != i || element.has_value() || element.read) return false;
    if (element.written && !(form_.sums && shape_of(element) == row)) return false;
  }
  return true;
}

void TensorArray::take_whole(const Value& rows, const Dims& row) {
  fit(0, row);
  block_ = rows;
  for (Element& element : elements_) {
    set_shape(element, row);
    element.written = element.in_block = true, element.own = false;
  }
}

void TensorArray::scatter(std::span<const int64_t> positions, const Value& rows) {
  const std::lock_guard lock(mutex_);
  check_open();
  const Dims row = without_first(rows.tensor.shape);
  const int64_t last = positions.empty() ? -1 : *std::max_element(positions.begin(), positions.end());
  require(can_grow() || last < count(), "Max scatter index must be < array size ({} vs. {})", last, count());
  if (last >= 0) make_longer(last);
  if (takes_whole(positions, row)) return take_whole(rows, row);
  for (size_t i = 0; i < positions.size(); ++i) put_view(positions[i], row_of(rows, static_cast<int64_t>(i)));
}

void TensorArray::split(std::span<const int64_t> lengths, const Value& rows) {
  const std::lock_guard lock(mutex_);
  check_open();
  const auto parts = static_cast<int64_t>(lengths.size());
  if (can_grow() && parts > count()) make_longer(parts - 1);
  require(parts == count(),
          "TensorArray's size is not equal to the size of lengths ({} vs. {}), and the TensorArray is not marked as "
          "dynamically resizeable",
          count(), parts);
  int64_t first = 0;
  for (int64_t i = 0; i < parts; ++i) {
    const int64_t length = lengths[static_cast<size_t>(i)];
    put_view(i, some_rows(rows, first, length));
    first += length;
  }
}

Value TensorArray::held(int64_t index) const {
  return at(index).in_block ? row_of(block_, index) : at(index).alone->value;
}

/// The element at `index` was read.
void TensorArray::leave(int64_t index) {
  Element& element = at(index);
  element.read = true;
  if (!form_.clears) return;
  element.cleared = true;
  element.alone.reset();
}

Value TensorArray::unwritten(int64_t index) const {
  const PartialShape& shape = type_.declared;
  require(shape.known(),
          "TensorArray {}: Could not read from TensorArray index {}.  Furthermore, the element shape is not fully "
          "defined: {}.  It is possible you are working with a resizeable TensorArray and stop_gradients is not "
          "allowing the gradients to be written.  If you set the full element_shape property on the forward "
          "TensorArray, the proper all-zeros tensor will be returned instead of incurring this error.",
          form_.name, index, client_text(shape));
  return zeros_of(device_, type_.element.dtype, *shape.dims);
}

/// Reading an element that was never written writes zeros to it: it cannot be written any more, nor read again where
/// reading clears.
Value TensorArray::take(int64_t index) {
  const bool inside = index >= 0 && index < count();
  require(inside || (index >= 0 && form_.sums), "Tried to read from index {} but array size is: {}", index, count());
  if (!inside) return unwritten(index);
  if (!at(index).written) {
    const Value value = unwritten(index);
    put_view(index, value);
  }
  require(!at(index).cleared,
          "TensorArray {}: Could not read index {} twice because it was cleared after a previous read (perhaps try "
          "setting clear_after_read = false?).",
          form_.name, index);
  Value value = at(index).has_value() ? held(index) : zeros_of(device_, type_.element.dtype, shape_of(at(index)));
  leave(index);
  return value;
}

Value TensorArray::read(int64_t index) {
  const std::lock_guard lock(mutex_);
  check_open();
  return take(index);
}

/// Whether they are rows of the block, one after the other.
bool TensorArray::in_order(std::span<const int64_t> positions) const {
  if (positions.empty() || positions.front() < 0 || type_.mixed) return false;
  for (size_t i = 0; i < positions.size(); ++i) {
    const int64_t index = positions.front() + static_cast<int64_t>(i);
    if (positions[i] != index || index >= count() || !at(index).in_block || at(index).cleared) return false;
  }
  return true;
}

Value TensorArray::rows_in_order(std::span<const int64_t> positions) {
  for (const int64_t index : positions) leave(index);
  return some_rows(block_, positions.front(), static_cast<int64_t>(positions.size()));
}

std::vector<Value> TensorArray::take_all(std::span<const int64_t> positions) {
  std::vector<Value> values;
  for (const int64_t index : positions) values.push_back(take(index));
  return values;
}

Value TensorArray::gather(std::span<const int64_t> positions, const PartialShape& asked) {
  const std::lock_guard lock(mutex_);
  check_open();
  type_.declared = merged(type_.declared, asked);
  if (positions.empty()) {
    if (!asked.known())
      fail(Code::kFeatureUnsupported,
           "TensorArray has size zero, but element shape {} is not fully defined. Currently only static shapes are "
           "supported when packing zero-size TensorArrays.",
           client_text(asked));
    return make_value(device_, type_.element.dtype, with_outer({0}, *asked.dims));
  }
  const auto check = [&](const Dims& shape) {
    require(compatible(asked, {shape}),
            "TensorArray was passed element_shape {} which does not match the Tensor at index 0: {}",
            client_text(asked), client_text(shape));
  };
  if (in_order(positions)) {
    check(*type_.shape);
    return rows_in_order(positions);
  }
  const std::vector<Value> values = take_all(positions);
  const Dims& shape = values.front().tensor.shape;
  check(shape);
  for (size_t i = 1; i < values.size(); ++i)
    require(values[i].tensor.shape == shape,
            "TensorArray has inconsistent shapes.  Index 0 has shape: {} but index {} has shape: {}",
            client_text(shape), i, client_text(values[i].tensor.shape));
  return joined(device_, type_.element.dtype, with_outer({static_cast<int64_t>(values.size())}, shape), values);
}

namespace {

/// The shape of a row of all of these, which `asked` must fit.
Dims row_shape(const std::vector<Value>& values, const PartialShape& asked) {
  Dims row;
  for (size_t i = 0; i < values.size(); ++i) {
    const Dims& shape = values[i].tensor.shape;
    require(!shape.empty(),
            "Concat saw a scalar shape at index {} but requires at least vectors.  Did you mean to call pack?", i);
    const Dims rest = without_first(shape);
    if (i == 0) row = rest;
    require(compatible(asked, {rest}),
            "TensorArray was passed element_shape_except0 {} but index {} has (excepting dimension 0) shape: {} which "
            "does not match.",
            client_text(asked), i, client_text(rest));
    require(rest == row,
            "TensorArray has inconsistent shapes.  Index 0 has (excepting dimension 0) shape: {} but index {} has "
            "(excepting dimension 0) shape: {}",
            client_text(row), i, client_text(rest));
  }
  return row;
}

}  // namespace

Value TensorArray::concat(const PartialShape& asked, std::vector<int64_t>& lengths) {
  const std::lock_guard lock(mutex_);
  check_open();
  if (elements_.empty() && !asked.known())
    fail(Code::kFeatureUnsupported,
         "TensorArray has size zero, but element_shape_except0 {} is not fully defined. Currently only static shapes "
         "are supported when concatenating zero-size TensorArrays.",
         client_text(asked));
  std::vector<int64_t> positions(elements_.size());
  std::iota(positions.begin(), positions.end(), int64_t{0});
  const bool whole = in_order(positions);
  const std::vector<Value> values = take_all(positions);
  const Dims row = elements_.empty() ? *asked.dims : row_shape(values, asked);
  for (const Value& value : values) lengths.push_back(value.tensor.shape[0]);
  const Dims shape = with_outer({std::accumulate(lengths.begin(), lengths.end(), int64_t{0})}, row);
  if (!whole) return joined(device_, type_.element.dtype, shape, values);
  Value out = some_rows(block_, 0, count());
  out.tensor = out.tensor.view(shape, contiguous_strides(shape));
  return out;
}

void TensorArray::close() {
  const std::lock_guard lock(mutex_);
  elements_.clear();
  block_ = {};
  closed_ = true;
}

ListType TensorArray::gradient_type(ListType type, const Dims& outer) {
  if (outer.empty()) return type;
  ListType out(type.element,
               type.declared.dims ? PartialShape{with_outer(outer, *type.declared.dims)} : PartialShape::unknown());
  out.mixed = type.mixed;
  if (type.shape) out.shape = with_outer(outer, *type.shape);
  return out;
}

ListType TensorArray::gradient_type(const std::string& source, const Dims& outer) const {
  const std::lock_guard lock(mutex_);
  const auto found = gradients_.find(source);
  return found == gradients_.end() ? gradient_type(type_, outer) : found->second->type();
}

std::shared_ptr<TensorArray> TensorArray::gradient(const std::string& source, const Dims& outer) {
  const std::lock_guard lock(mutex_);
  require(!form_.sums, "Wrong input container. _tensor_array_grads{}", form_.name);
  check_open();
  fixed_ = true;
  std::shared_ptr<TensorArray>& array = gradients_[source];
  if (array) return array;
  const Form form{form_.name + "@" + source, false, true, form_.alike, true};
  array = std::make_shared<TensorArray>(device_, gradient_type(type_, outer), count(), form);
  for (int64_t i = 0; i < count(); ++i) {
    if (!at(i).written) continue;
    array->set_shape(array->at(i), with_outer(outer, shape_of(at(i))));
    array->at(i).written = true;
  }
  return array;
}

}  // namespace npu::graph
