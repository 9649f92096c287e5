// SPDX-License-Identifier: Apache-2.0
// Arrays of tensors. Plans know the shape of an array's elements where all are alike, as they do of lists
// (tensor_list.cpp). The flow that nodes hand on says what comes before what; its number means nothing, so a node hands
// on the one that it got.
#include "graph/value/tensor_array.h"

#include "graph/ir/literal.h"
#include "graph/node/run_integer.h"
#include "graph/node/state/changing.h"
#include "graph/node/state/handle.h"
#include "graph/value/client_text.h"

namespace npu::graph {
namespace {

TensorArray& array_of(Frame& frame, const Planned& handle) {
  return object_behind<TensorArray>(frame, handle, "an array of tensors");
}

/// The array as the plan sees it; null where it is made in this plan.
const TensorArray* seen(const Lowering& l) {
  if (l.input(0).list) return nullptr;
  return &planned_handle<TensorArray>(l, "an array of tensors");
}

ListType type_of(const Lowering& l) {
  const TensorArray* array = seen(l);
  return array != nullptr ? array->type() : *l.input(0).list;
}

void check_vector(const Planned& planned, std::string_view what) {
  require(planned.shape().size() == 1, "Expected {} to be a vector, but received shape: {}", what,
          client_text(planned.shape()));
}

void check_scalar(const Planned& planned, std::string_view what) {
  require(planned.shape().empty(), "TensorArray {} must be scalar, but had shape: {}", what,
          client_text(planned.shape()));
}

/// The type of the elements, which the node asks for by an attribute.
ListType type_asked_for(Lowering& l) {
  need_unchanged(l);
  ListType type = type_of(l);
  const auto asked = l.node().outputs[0].type;
  require(type.element == asked, "TensorArray dtype is {} but Op requested dtype {}.", client_text(type.element),
          client_text(asked));
  return type;
}

Planned array_output(Lowering& l, ListType type) {
  Planned out = l.object(0);
  out.list = std::make_shared<const ListType>(std::move(type));
  l.alias(0, out);
  return out;
}

void make(Lowering& l) {
  const auto& element = l.attributes().get<ValueType>("dtype");
  if (!element.is_tensor() || size_of(element.dtype) == 0) l.decline("arrays of this type are the client's");
  TensorArray::Form form;
  form.name = l.attributes().get_or<std::string>("tensor_array_name", "");
  if (form.name.empty()) form.name = l.node().client_name.empty() ? l.node().name : l.node().client_name;
  form.grows = l.attributes().get_or<bool>("dynamic_size", false);
  form.clears = l.attributes().get_or<bool>("clear_after_read", true);
  form.alike = l.attributes().get_or<bool>("identical_element_shapes", false);
  const ListType type(element, l.attributes().get_or<PartialShape>("element_shape", PartialShape::unknown()));
  const Planned size = l.input(0), out = array_output(l, type);
  check_scalar(size, "size");
  l.constant(1, scalar_literal(0.0F));
  l.run({size, out}, [=](Frame& frame) {
    frame.set(out, {{}, nullptr, TensorArray::make(frame.device(), type, integer(frame, size), form)});
  });
}

/// `outer`: sizes in front of those of the array's elements.
void make_gradient(Lowering& l, const Dims& outer) {
  need_unchanged(l);
  const TensorArray* array = seen(l);
  const std::string source = l.attributes().get<std::string>("source");
  ListType type =
      array != nullptr ? array->gradient_type(source, outer) : TensorArray::gradient_type(*l.input(0).list, outer);
  const Planned handle = l.input(0), out = array_output(l, std::move(type));
  l.alias(1, l.input(1));
  l.run({handle, out},
        [=](Frame& frame) { frame.set(out, {{}, nullptr, array_of(frame, handle).gradient(source, outer)}); });
}

void gradient(Lowering& l) { make_gradient(l, {}); }

void gradient_with_shape(Lowering& l) {
  const std::vector<int64_t> sizes = l.integers(2);
  require(l.shape(2).size() == 1, "shape must be a vector of {{int32,int64}}, got shape {}", client_text(l.shape(2)));
  for (const int64_t size : sizes) require(size >= 0, "Dimension {} must be >= 0", size);
  make_gradient(l, Dims(sizes));
}

/// Input `i`, which is written to the array.
const Planned& written_input(const Lowering& l, size_t i) {
  const ValueType element = type_of(l).element;
  const Planned& value = l.input(i);
  require(value.type == element, "TensorArray dtype is {} but Op is trying to write dtype {}.", client_text(element),
          client_text(value.type));
  return value;
}

/// A step that writes elements of this shape; none: of several.
void run_write(Lowering& l, std::vector<Planned> used, const std::optional<Dims>& shape,
               std::function<void(Frame&)> body) {
  const ListType type = type_of(l);
  l.alias(0, l.input(3));
  if (!shape || changes(type, *shape)) body = Changing{std::move(body)};
  l.run(std::move(used), std::move(body));
}

void write(Lowering& l) {
  const Planned handle = l.input(0), index = l.input(1), value = written_input(l, 2);
  check_scalar(index, "index");
  run_write(l, {handle, index, value}, l.shape(2),
            [=](Frame& frame) { array_of(frame, handle).write(integer(frame, index), frame.tensor(value)); });
}

void scatter(Lowering& l) {
  const Planned handle = l.input(0), indices = l.input(1), value = written_input(l, 2);
  check_vector(indices, "indices");
  require(!l.shape(2).empty(), "Input value for unpack must be at least a vector but received shape: []");
  require(indices.shape()[0] == l.shape(2)[0], "Expected len(indices) == values.shape[0], but saw: {} vs. {}",
          indices.shape()[0], l.shape(2)[0]);
  Dims row = l.shape(2);
  row.erase(0);
  l.keep(value);
  run_write(l, {handle, indices, value}, row,
            [=](Frame& frame) { array_of(frame, handle).scatter(integers(frame, indices), frame.value(value)); });
}

void split(Lowering& l) {
  const Planned handle = l.input(0), value = written_input(l, 1), lengths = l.input(2);
  require(lengths.shape().size() == 1, "Expected lengths to be a vector, received shape: {}",
          client_text(lengths.shape()));
  require(!l.shape(1).empty(), "Expected value to be at least a vector, but received shape: []");
  l.keep(value);
  run_write(l, {handle, value, lengths}, std::nullopt, [=](Frame& frame) {
    const std::vector<int64_t> parts = integers(frame, lengths);
    const int64_t rows = value.shape()[0];
    int64_t sum = 0;
    for (const int64_t part : parts) {
      require(part >= 0, "lengths hold {}; the length of a part is at least 0", part);
      require(!__builtin_add_overflow(sum, part, &sum), "the sum of lengths passes 2**63 - 1; the value has {} rows",
              rows);
    }
    require(sum == rows,
            "Expected sum of lengths to be equal to values.shape[0], but sum of lengths is {} and value's shape is: {}",
            sum, client_text(value.shape()));
    array_of(frame, handle).split(parts, frame.value(value));
  });
}

/// What came is of the form that the plan was made for, unless somebody else wrote meanwhile.
void give(Frame& frame, const Planned& out, Value value) {
  require(out.dynamic || value.tensor.shape == out.shape(),
          "the array came to hold elements of another shape while the function ran: {} comes in the place of {}",
          value.tensor, out.view);
  frame.set(out, std::move(value));
}

void read(Lowering& l) {
  const ListType type = type_asked_for(l);
  const std::optional<Dims> shape = type.element_shape(PartialShape::unknown());
  const DType dtype = type.element.dtype;
  const Planned handle = l.input(0), index = l.input(1), out = shape ? l.late(0, dtype, *shape) : l.dynamic(0, dtype);
  check_scalar(index, "index");
  l.run({handle, index, out},
        [=](Frame& frame) { give(frame, out, array_of(frame, handle).read(integer(frame, index))); });
}

void gather(Lowering& l) {
  const ListType type = type_asked_for(l);
  const auto asked = l.attributes().get_or<PartialShape>("element_shape", PartialShape::unknown());
  const Planned handle = l.input(0), indices = l.input(1);
  check_vector(indices, "indices");
  const int64_t count = indices.shape()[0];
  // Of no elements the node alone says the shape.
  std::optional<Dims> shape = count > 0 ? type.shape : asked.known() ? asked.dims : std::nullopt;
  if (shape) shape->insert(0, count);
  const Planned out = shape ? l.late(0, type.element.dtype, *shape) : l.dynamic(0, type.element.dtype);
  l.run({handle, indices, out},
        [=](Frame& frame) { give(frame, out, array_of(frame, handle).gather(integers(frame, indices), asked)); });
}

void concat(Lowering& l) {
  const ListType type = type_asked_for(l);
  const auto asked = l.attributes().get_or<PartialShape>("element_shape_except0", PartialShape::unknown());
  const Planned handle = l.input(0), out = l.dynamic(0, type.element.dtype), lengths = l.dynamic(1, DType::kInt64);
  l.run({handle, out, lengths}, [=](Frame& frame) {
    std::vector<int64_t> rows;
    frame.set(out, array_of(frame, handle).concat(asked, rows));
    Value values = make_value(frame.device(), DType::kInt64, {static_cast<int64_t>(rows.size())});
    std::copy(rows.begin(), rows.end(), values.tensor.as<int64_t>());
    frame.set(lengths, std::move(values));
  });
}

void size(Lowering& l) {
  type_of(l);
  const Planned handle = l.input(0), out = l.late(0, DType::kInt32, {});
  l.run({handle, out}, [=](Frame& frame) {
    Value value = make_value(frame.device(), DType::kInt32, {});
    *value.tensor.as<int32_t>() = static_cast<int32_t>(array_of(frame, handle).size());
    frame.set(out, std::move(value));
  });
}

void close(Lowering& l) {
  type_of(l);
  const Planned handle = l.input(0);
  l.run({handle}, [=](Frame& frame) { array_of(frame, handle).close(); });
}

NPU_NODE("TensorArrayV3", make);
NPU_NODE("TensorArrayGradV3", gradient);
NPU_NODE("TensorArrayGradWithShape", gradient_with_shape);
NPU_NODE("TensorArrayWriteV3", write);
NPU_NODE("TensorArrayScatterV3", scatter);
NPU_NODE("TensorArraySplitV3", split);
NPU_NODE("TensorArrayReadV3", read);
NPU_NODE("TensorArrayGatherV3", gather);
NPU_NODE("TensorArrayConcatV3", concat);
NPU_NODE("TensorArraySizeV3", size);
NPU_NODE("TensorArrayCloseV3", close);

}  // namespace
}  // namespace npu::graph
