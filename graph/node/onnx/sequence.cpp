// SPDX-License-Identifier: Apache-2.0
// ONNX's sequences of tensors: lists of the engine whose elements may differ in shape.
#include <algorithm>

#include "graph/node/onnx/inputs.h"
#include "graph/run/frame.h"
#include "graph/value/tensor_list.h"
#include "ops/runner/call.h"

namespace npu::graph::onnx {
namespace {

using List = std::shared_ptr<TensorList>;

ListType mixed(ValueType element) {
  ListType type(element, PartialShape::unknown());
  type.mixed = true;
  return type;
}

Planned list_output(Lowering& l, const ListType& type) {
  Planned out = l.object(0);
  out.list = std::make_shared<const ListType>(type);
  l.alias(0, out);
  return out;
}

const ListType& type_of(const Lowering& l, size_t i) {
  if (!l.input(i).list) l.decline("its sequence is the client's");
  return *l.input(i).list;
}

const TensorList& read(Frame& frame, const Planned& list) {
  return static_cast<const TensorList&>(*frame.value(list).object);
}

/// The list for writing: the same object when nobody else needs it, else a copy of handles.
List own(Frame& frame, const Planned& list) {
  auto mine = std::static_pointer_cast<TensorList>(frame.take(list).object);
  return mine.use_count() == 1 ? mine : std::make_shared<TensorList>(*mine);
}

void give(Frame& frame, const Planned& out, List list) { frame.set(out, {{}, nullptr, std::move(list)}); }

int64_t integer(Frame& frame, const Planned& planned) {
  const Tensor tensor = frame.tensor(planned);
  return Scalar(tensor.bytes(), tensor.dtype).to_int();
}

/// An element that outlives the run of its plan.
Planned kept(Lowering& l, size_t i) {
  const Planned in = in_rows(l, l.input(i));
  l.keep(in);
  return in;
}

void empty(Lowering& l) {
  const ListType type = mixed(l.attributes().get<ValueType>("element_dtype"));
  const Planned out = list_output(l, type);
  l.run({out}, [out, type](Frame& frame) { give(frame, out, std::make_shared<TensorList>(type)); });
}

void construct(Lowering& l) {
  const ListType type = mixed(ValueType::tensor(l.dtype(0)));
  std::vector<Planned> parts;
  for (size_t i = 0; i < l.input_count(); ++i) parts.push_back(kept(l, i));
  const Planned out = list_output(l, type);
  l.run(parts, std::vector<Planned>{out}, [=](Frame& frame) {
    auto list = std::make_shared<TensorList>(type);
    for (const Planned& part : parts) list->elements.push_back(frame.value(part));
    give(frame, out, std::move(list));
  });
}

/// A place among `count`, negative ones counted from the end.
size_t place(int64_t at, size_t count, size_t most) {
  const int64_t from_start = at < 0 ? at + static_cast<int64_t>(count) : at;
  require(from_start >= 0 && std::cmp_less_equal(from_start, most), "position {} lies outside a sequence of {}", at,
          count);
  return static_cast<size_t>(from_start);
}

/// Before a position, or behind all.
void insert(Lowering& l) {
  ListType type = type_of(l, 0);
  type.mixed = true, type.shape.reset();
  const Planned from = l.input(0), item = kept(l, 1), out = list_output(l, type);
  const bool placed = has(l, 2);
  const Planned where = placed ? l.input(at(l, 2)) : from;
  l.run({from, item, where, out}, [=](Frame& frame) {
    List list = own(frame, from);
    list->type.mixed = true, list->type.shape.reset();
    const size_t count = list->elements.size();
    const size_t to = placed ? place(integer(frame, where), count, count) : count;
    list->elements.insert(to, frame.value(item));
    give(frame, out, std::move(list));
  });
}

void erase(Lowering& l) {
  const Planned from = l.input(0), out = list_output(l, type_of(l, 0));
  const bool placed = has(l, 1);
  const Planned where = placed ? l.input(at(l, 1)) : from;
  l.run({from, where, out}, [=](Frame& frame) {
    List list = own(frame, from);
    require(!list->elements.empty(), "an element is taken from an empty sequence");
    const size_t count = list->elements.size();
    const size_t to = placed ? place(integer(frame, where), count, count - 1) : count - 1;
    list->elements.erase(to);
    give(frame, out, std::move(list));
  });
}

void element(Lowering& l) {
  const Planned from = l.input(0), where = l.input(1), out = l.dynamic(0, type_of(l, 0).element.dtype);
  l.run({from, where, out}, [=](Frame& frame) {
    const TensorList& list = read(frame, from);
    const size_t count = list.elements.size();
    require(count > 0, "an element is taken from an empty sequence");
    frame.set(out, list.elements[place(integer(frame, where), count, count - 1)]);
  });
}

void length(Lowering& l) {
  type_of(l, 0);
  const Planned from = l.input(0), out = l.late(0, DType::kInt64, {});
  l.run({from, out}, [=](Frame& frame) {
    Value value = make_value(frame.device(), DType::kInt64, {});
    *value.tensor.as<int64_t>() = static_cast<int64_t>(read(frame, from).elements.size());
    frame.set(out, std::move(value));
  });
}

/// Sizes along an axis: one number for all parts, of which the last may be smaller, or one for each; without any, parts
/// of one element, whose axis goes unless keepdims says otherwise.
void split(Lowering& l) {
  const Planned in = l.input(0);
  const size_t axis = checked_axis(int_attribute(l, "axis", 0), in.shape().size());
  const int64_t whole = in.shape()[axis];
  const bool single = !has(l, 1), keeps = !single || int_attribute(l, "keepdims", 1) != 0;
  std::vector<int64_t> sizes(static_cast<size_t>(single ? whole : 0), 1);
  if (!single) {
    const std::vector<int64_t> given = l.integers(at(l, 1));
    if (!l.shape(at(l, 1)).empty()) {
      sizes = given;
    } else {
      require(given.front() > 0, "parts of {} elements are asked for", given.front());
      for (int64_t done = 0; done < whole; done += given.front())
        sizes.push_back(std::min(given.front(), whole - done));
    }
  }
  std::vector<Planned> parts;
  int64_t begin = 0;
  for (const int64_t size : sizes) {
    require(size >= 0 && begin + size <= whole, "the parts pass the {} elements of axis {}", whole, axis);
    Planned part = narrowed(in, axis, begin, size);
    if (!keeps) part = without_axis(in, axis, begin);
    const Planned own = l.scratch(in.dtype(), part.shape());
    copy(l, part, own);
    l.keep(own);
    parts.push_back(own);
    begin += size;
  }
  const ListType type = mixed(ValueType::tensor(in.dtype()));
  const Planned out = list_output(l, type);
  l.run(parts, std::vector<Planned>{out}, [=](Frame& frame) {
    auto list = std::make_shared<TensorList>(type);
    for (const Planned& part : parts) list->elements.push_back(frame.value(part));
    give(frame, out, std::move(list));
  });
}

void concat(Lowering& l) {
  const Planned from = l.input(0), out = l.dynamic(0, type_of(l, 0).element.dtype);
  const int64_t given = l.attributes().get<int64_t>("axis");
  const bool stacked = int_attribute(l, "new_axis", 0) != 0;
  l.run({from, out}, [=](Frame& frame) {
    const TensorList& list = read(frame, from);
    require(!list.elements.empty(), "an empty sequence is to become one tensor");
    std::vector<Tensor> parts;
    for (size_t i = 0; i < list.elements.size(); ++i) parts.push_back(list.elements[i].tensor);
    Dims shape = parts.front().shape;
    const size_t axis = checked_axis(given, shape.size() + (stacked ? 1 : 0));
    if (stacked) {
      shape.insert(axis, static_cast<int64_t>(parts.size()));
    } else {
      shape[axis] = 0;
      for (const Tensor& part : parts) shape[axis] += part.shape[axis];
    }
    Value result = make_value(frame.device(), out.dtype(), shape);
    ops::Call(stacked ? "stack" : "cat")
        .set("tensors", parts)
        .set("dim", static_cast<int64_t>(axis))
        .set("out", result.tensor)
        .run();
    frame.set(out, std::move(result));
  });
}

NPU_NODE("ai.onnx::SequenceEmpty", empty);
NPU_NODE("ai.onnx::SequenceConstruct", construct);
NPU_NODE("ai.onnx::SequenceInsert", insert);
NPU_NODE("ai.onnx::SequenceErase", erase);
NPU_NODE("ai.onnx::SequenceAt", element);
NPU_NODE("ai.onnx::SequenceLength", length);
NPU_NODE("ai.onnx::SplitToSequence", split);
NPU_NODE("ai.onnx::ConcatFromSequence", concat);

}  // namespace
}  // namespace npu::graph::onnx
