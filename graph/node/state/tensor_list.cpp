// SPDX-License-Identifier: Apache-2.0
// Lists of tensors. Plans know the shape of a list's elements where all are alike (ListType), so that taking one out
// need not end a plan; lists of the client's (of strings, from its own nodes) stay with it. What the client's own
// kernels refuse is refused with the same sentence.
#include <algorithm>
#include <cstdint>

#include "graph/ir/literal.h"
#include "graph/node/run_integer.h"
#include "graph/node/state/list_node.h"
#include "graph/value/client_text.h"

namespace npu::graph {
namespace {

using List = std::shared_ptr<TensorList>;

ValueType element_type(const Lowering& l) {
  const auto& type = l.attributes().get<ValueType>("element_dtype");
  if (type.is_tensor() ? size_of(type.dtype) == 0 : type.kind != ValueKind::kVariant)
    l.decline("lists of this type are the client's");
  return type;
}

Planned make_list(Lowering& l, size_t output, ListType type) {
  Planned out = l.object(output);
  out.list = std::make_shared<const ListType>(std::move(type));
  l.alias(output, out);
  return out;
}

/// The list for writing: the same object when nobody else needs it, else a copy (of handles to the elements).
List own_list(Frame& frame, const Planned& list) {
  auto mine = std::static_pointer_cast<TensorList>(frame.take(list).object);
  return mine.use_count() == 1 ? mine : std::make_shared<TensorList>(*mine);
}

void give_list(Frame& frame, const Planned& out, List list) { frame.set(out, {{}, nullptr, std::move(list)}); }

/// An output that is one element: its shape is known when all elements are alike.
Planned element_output(Lowering& l, size_t output, const ListType& type, size_t asked) {
  if (!type.element.is_tensor()) {
    // Of a list in the list nothing is known before the run.
    const Planned out = l.object(output);
    l.end_plan();
    return out;
  }
  const auto shape = type.element_shape(planned_shape(l, asked, type));
  return shape ? l.late(output, type.element.dtype, *shape) : l.dynamic(output, type.element.dtype);
}

void give_element(Frame& frame, const Planned& out, Value value) {
  check_planned(value.tensor.shape, out);
  frame.set(out, std::move(value));
}

ListType with_gaps(ListType type) {
  type.gaps = true;
  return type;
}

void empty(Lowering& l) {
  const Planned most = scalar_input(l, 1, "max_num_elements expected to be a scalar but got shape: ");
  const Planned out = make_list(l, 0, {element_type(l), shape_input(l, 0, l.node().op)});
  l.run({most, out}, [most, out, type = *out.list](Frame& frame) {
    auto list = std::make_shared<TensorList>(type);
    list->most = integer(frame, most);
    give_list(frame, out, std::move(list));
  });
}

void reserve(Lowering& l) {
  const Planned count = scalar_input(l, 1, "The num_elements to reserve must be a tensor size 1, but got ");
  const Planned out = make_list(l, 0, with_gaps({element_type(l), shape_input(l, 0, l.node().op)}));
  l.run({count, out}, [count, out, type = *out.list](Frame& frame) {
    const int64_t elements = integer(frame, count);
    require(elements >= 0, "The num_elements to reserve must be a non negative number, but got {}", elements);
    auto list = std::make_shared<TensorList>(type);
    list->elements.resize(static_cast<size_t>(elements));
    give_list(frame, out, std::move(list));
  });
}

/// The shape of a row of input `i`.
Dims row_shape(const Lowering& l, size_t i) {
  require(!l.shape(i).empty(), "Tensor must be at least a vector, but saw shape: {}", client_text(l.shape(i)));
  Dims row = l.shape(i);
  row.erase(0);
  return row;
}

/// The type of a new list of rows of the node's first input.
ListType type_of_rows(const Lowering& l, const PartialShape& declared) {
  const Dims row = row_shape(l, 0);
  ListType type(element_type(l), declared);
  require(compatible(declared, {row}), "Specified a list with shape {} from a tensor with shape {}",
          client_text(declared), client_text(row));
  type.hold(row);
  return type;
}

void from_tensor(Lowering& l) {
  const Planned in = l.input(0), out = make_list(l, 0, type_of_rows(l, shape_input(l, 1, l.node().op)));
  l.keep(in);
  l.run({in, out}, [in, out, type = *out.list](Frame& frame) {
    auto list = std::make_shared<TensorList>(type);
    const Value rows = frame.value(in);
    for (int64_t i = 0; i < rows.tensor.shape[0]; ++i) list->elements.push_back(row_of(rows, i));
    give_list(frame, out, std::move(list));
  });
}

/// Positions that rows are written to: all at least 0, and below `count` unless that is -1. Returns the number of
/// elements that these need.
size_t needed_elements(const std::vector<int64_t>& positions, int64_t count) {
  int64_t needed = std::max<int64_t>(count, 0);
  for (const int64_t at : positions) {
    require(at >= 0, "Indices in TensorListScatter must all be non-negative. Index {} is not", at);
    require(count == -1 || at < count, "TensorListScatter: Trying to scatter at index {} in list with size {}", at,
            count);
    needed = std::max(needed, at + 1);
  }
  return static_cast<size_t>(needed);
}

/// Row i of `rows` becomes element positions[i]; of several rows for one element the last stays.
void scatter_rows(TensorList& list, const Value& rows, const std::vector<int64_t>& positions, int64_t count) {
  list.elements.resize(std::max(list.elements.size(), needed_elements(positions, count)));
  for (size_t i = 0; i < positions.size(); ++i)
    list.set(static_cast<size_t>(positions[i]), row_of(rows, static_cast<int64_t>(i)));
}

void scatter(Lowering& l) {
  const Planned in = l.input(0), indices = l.input(1);
  const bool sized = l.input_count() > 3;
  const Planned count = sized ? scalar_input(l, 3, "num_elements must be a scalar. It has the shape ") : indices;
  const Planned out = make_list(l, 0, with_gaps(type_of_rows(l, shape_input(l, 2, "TensorListScatter"))));
  require(count_of(indices.shape()) == in.shape()[0], "Invalid number of rows in input tensor. Expected: {} Actual: {}",
          count_of(indices.shape()), in.shape()[0]);
  l.keep(in);
  l.run({in, indices, count, out}, [=, type = *out.list](Frame& frame) {
    const int64_t elements = sized ? integer(frame, count) : -1;
    require(elements >= -1, "TensorListScatter expects num_elements >= -1, found: {}", elements);
    auto list = std::make_shared<TensorList>(type);
    scatter_rows(*list, frame.value(in), integers(frame, indices), elements);
    give_list(frame, out, std::move(list));
  });
}

/// The rows need not fit the shape that was declared for the list's elements.
void scatter_into(Lowering& l) {
  const Planned from = l.input(0), in = l.input(1), indices = l.input(2);
  ListType type = with_gaps(list_type(l, 0));
  // An object that is an argument has no type of its own.
  const ValueType given = in.type.is_tensor() ? in.type : l.attributes().get_or<ValueType>("element_dtype", in.type);
  require(given == type.element, "Invalid data types; input tensor type: {} list element_type: {}", client_text(given),
          client_text(type.element));
  type.hold(row_shape(l, 1));
  require(indices.shape().size() == 1, "Expected indices to be a vector, but received shape: {}",
          client_text(indices.shape()));
  require(indices.shape()[0] == in.shape()[0], "Expected len(indices) == tensor.shape[0], but saw: {} vs. {}",
          indices.shape()[0], in.shape()[0]);
  const Planned out = make_list(l, 0, type);
  l.keep(in);
  l.run({from, in, indices, out}, [=](Frame& frame) {
    List list = own_list(frame, from);
    list->type.gaps = true;
    scatter_rows(*list, frame.value(in), integers(frame, indices), -1);
    give_list(frame, out, std::move(list));
  });
}

/// The type of a list of parts of the node's first input, whose lengths only the run brings: they need not fit the
/// first size of the shape that is declared.
ListType type_of_parts(const Lowering& l, const PartialShape& declared) {
  require(!declared.rank_known() || !declared.dims->empty(),
          "TensorListSplit requires element_shape to be at least of rank 1, but saw: {}", client_text(declared));
  const Dims row = row_shape(l, 0);
  Dims part = row;
  part.insert(0, declared.rank_known() ? (*declared.dims)[0] : kUnknownDim);
  require(compatible(declared, {part}), "tensor shape {} is not compatible with element_shape {}",
          client_text(l.shape(0)), client_text(declared));
  return {element_type(l), declared};
}

void split(Lowering& l) {
  const Planned in = l.input(0), lengths = l.input(2);
  const ListType type = type_of_parts(l, shape_input(l, 1, l.node().op));
  require(lengths.shape().size() == 1, "Expected lengths to be a vector, received shape: {}",
          client_text(lengths.shape()));
  ListType planned = type;
  planned.mixed = true, planned.shape.reset();
  const Planned out = make_list(l, 0, planned);
  l.keep(in);
  l.run({in, lengths, out}, [=](Frame& frame) {
    auto list = std::make_shared<TensorList>(type);
    const Value rows = frame.value(in);
    const int64_t count = rows.tensor.shape[0];
    int64_t start = 0;
    for (const int64_t length : integers(frame, lengths)) {
      require(length >= 0, "Invalid value in lengths: {}", length);
      require(length <= count - start, "Attempting to slice [{}, {}] from tensor with length {}", start,
              start + std::min(length, INT64_MAX - start), count);
      Value part = rows;
      part.tensor.shape[0] = length;
      part.tensor.offset += start * (count_of(rows.tensor.shape) / std::max<int64_t>(count, 1));
      list->push_back(std::move(part));
      start += length;
    }
    require(start == count, "Unused values in tensor. Length of tensor: {} Values used: {}", count, start);
    give_list(frame, out, std::move(list));
  });
}

/// Input `item` fits what the list declares. `refusal` and the two shapes: of one that does not.
void check_item_shape(const Lowering& l, size_t item, std::string_view refusal) {
  const PartialShape& declared = list_type(l, 0).declared;
  if (is_object(l.input(item).type)) return;
  require(compatible(declared, {l.shape(item)}), "{}{} list shape: {}", refusal, client_text(l.shape(item)),
          client_text(declared));
}

/// The list's type once input `item` is an element.
ListType with_item(const Lowering& l, size_t item) {
  ListType type = list_of_node_type(l, 0);
  if (!type.element.is_tensor()) return type;
  require(l.input(item).type == type.element, "Invalid data types; op elements {} but list elements {}",
          client_text(l.input(item).type), client_text(type.element));
  type.hold(l.shape(item));
  return type;
}

/// Input `i`, a position.
const Planned& position_input(const Lowering& l, size_t i) {
  require(count_of(l.shape(i)) == 1, "an index is one number; it has the shape {}", client_text(l.shape(i)));
  return l.input(i);
}

void set_item(Lowering& l) {
  const Planned from = l.input(0), index = position_input(l, 1), item = l.input(2);
  const bool grows = l.attributes().get_or<bool>("resize_if_index_out_of_bounds", false);
  const ListType type = with_item(l, 2);
  check_item_shape(l, 2, "Tried to set a tensor with incompatible shape at a list index. Item element shape: ");
  const Planned out = make_list(l, 0, grows ? with_gaps(type) : type);
  l.keep(item);
  l.run({from, index, item, out}, [=](Frame& frame) {
    List list = own_list(frame, from);
    const int64_t at = integer(frame, index);
    const size_t count = list->elements.size();
    require(list->contains(at) || (grows && at >= 0), "Trying to modify element {} in a list with {} elements.", at,
            count);
    list->type.gaps = list->type.gaps || grows;
    list->elements.resize(std::max(count, static_cast<size_t>(at) + 1));
    list->set(static_cast<size_t>(at), frame.value(item));
    give_list(frame, out, std::move(list));
  });
}

void push_back(Lowering& l) {
  check_item_shape(l, 1, "Tried to append a tensor with incompatible shape to a list. Op element shape: ");
  const ListType type = with_item(l, 1);
  const Planned from = l.input(0), item = l.input(1), out = make_list(l, 0, type);
  l.keep(item);
  l.run({from, item, out}, [=](Frame& frame) {
    List list = own_list(frame, from);
    list->push_back(frame.value(item));
    give_list(frame, out, std::move(list));
  });
}

void get_item(Lowering& l) {
  const ListType& type = list_of_node_type(l, 0);
  const Planned list = l.input(0), index = position_input(l, 1), asked = l.input(2);
  const Planned out = element_output(l, 0, type, 2);
  l.run({list, index, asked, out}, [=, op = l.node().op](Frame& frame) {
    const TensorList& from = read_list(frame, list);
    const size_t at = from.position(integer(frame, index));
    give_element(
        frame, out,
        from.is_set(at) ? from.elements[at] : unset_element(frame.device(), from, shape_input(frame, asked, op)));
  });
}

void pop_back(Lowering& l) {
  const ListType& type = list_of_node_type(l, 0);
  const Planned from = l.input(0), asked = l.input(1), out = make_list(l, 0, type);
  const Planned item = element_output(l, 1, type, 1);
  l.run({from, asked, out, item}, [=, op = l.node().op](Frame& frame) {
    List list = own_list(frame, from);
    require(!list->elements.empty(), "Trying to pop from an empty list.");
    const size_t last = list->elements.size() - 1;
    give_element(
        frame, item,
        list->is_set(last) ? list->elements[last] : unset_last(frame.device(), *list, shape_input(frame, asked, op)));
    list->elements.pop_back();
    give_list(frame, out, std::move(list));
  });
}

void resize(Lowering& l) {
  const Planned from = l.input(0), size = scalar_input(l, 1, "size must be a scalar. It has the shape ");
  const Planned out = make_list(l, 0, with_gaps(list_type(l, 0)));
  l.run({from, size, out}, [=](Frame& frame) {
    List list = own_list(frame, from);
    const int64_t elements = integer(frame, size);
    require(elements >= 0, "TensorListSlice expects size to be non-negative. Got: {}", elements);
    list->type.gaps = true;
    list->elements.resize(static_cast<size_t>(elements));
    give_list(frame, out, std::move(list));
  });
}

/// The type of input `i`, named `name`, of a node that joins two lists.
const ListType& joined_type(const Lowering& l, size_t i, std::string_view name) {
  const ListType& type = list_type(l, i);
  const auto asked = l.attributes().get_or<ValueType>("element_dtype", type.element);
  require(asked == type.element, "{}[0].dtype != element_dtype.  Saw: {} vs. {}", name, client_text(type.element),
          client_text(asked));
  return type;
}

void concat_lists(Lowering& l) {
  ListType type = joined_type(l, 0, "input_a");
  const ListType& second = joined_type(l, 1, "input_b");
  require(type.declared == second.declared,
          "input_a and input_b TensorList element shapes are not identical at index 0.  Saw {} vs. {}",
          client_text(type.declared), client_text(second.declared));
  type.join(second);
  const Planned a = l.input(0), b = l.input(1), out = make_list(l, 0, type);
  l.run({a, b, out}, [=](Frame& frame) {
    // The second may be the first; held before, it makes own_list copy.
    const auto more = std::static_pointer_cast<TensorList>(frame.value(b).object);
    const List list = own_list(frame, a);
    list->type.join(more->type);
    list->elements.append(more->elements);
    give_list(frame, out, list);
  });
}

void length(Lowering& l) {
  list_type(l, 0);
  const Planned list = l.input(0), out = l.late(0, DType::kInt32, {});
  l.run({list, out}, [=](Frame& frame) {
    Value value = make_value(frame.device(), DType::kInt32, {});
    *value.tensor.as<int32_t>() = static_cast<int32_t>(read_list(frame, list).elements.size());
    frame.set(out, std::move(value));
  });
}

template <class T>
Literal shape_literal(const PartialShape& shape) {
  std::vector<T> sizes{-1};
  if (shape.dims) sizes.assign(shape.dims->begin(), shape.dims->end());
  return literal_of<T>(shape.dims ? Dims{static_cast<int64_t>(sizes.size())} : Dims{}, sizes);
}

void element_shape(Lowering& l) {
  const PartialShape& shape = list_type(l, 0).declared;
  const bool wide = l.node().outputs.front().type.dtype == DType::kInt64;
  l.constant(0, wide ? shape_literal<int64_t>(shape) : shape_literal<int32_t>(shape));
}

void add(Lowering& l) {
  ListType type = list_type(l, 0);
  std::vector<Planned> used{l.input(0)};
  for (size_t i = 1; i < l.input_count(); ++i) {
    type = sum_type(type, list_type(l, i));
    used.push_back(l.input(i));
  }
  if (used.size() == 1) return l.alias(0, used.front());
  const std::vector<Planned> lists = used;
  const Planned out = make_list(l, 0, type);
  used.push_back(out);
  l.run(used, [lists, out](Frame& frame) {
    const int device = frame.device();
    List sum = add_lists(device, read_list(frame, lists[0]), read_list(frame, lists[1]));
    for (size_t i = 2; i < lists.size(); ++i) sum = add_lists(device, *sum, read_list(frame, lists[i]));
    give_list(frame, out, std::move(sum));
  });
}

void zeros(Lowering& l) {
  const Planned in = l.input(0), out = make_list(l, 0, list_type(l, 0));
  l.run({in, out},
        [in, out](Frame& frame) { give_list(frame, out, zeros_like(frame.device(), read_list(frame, in))); });
}

NPU_NODE("EmptyTensorList", empty);
NPU_NODE("TensorListReserve", reserve);
NPU_NODE("TensorListFromTensor", from_tensor);
NPU_NODE("TensorListScatter", scatter);
NPU_NODE("TensorListScatterV2", scatter);
NPU_NODE("TensorListScatterIntoExistingList", scatter_into);
NPU_NODE("TensorListSplit", split);
NPU_NODE("TensorListSetItem", set_item);
NPU_NODE("TensorListPushBack", push_back);
NPU_NODE(Kind::kListItem, get_item);
NPU_NODE("TensorListPopBack", pop_back);
NPU_NODE("TensorListResize", resize);
NPU_NODE("TensorListConcatLists", concat_lists);
NPU_NODE("TensorListLength", length);
NPU_NODE("TensorListElementShape", element_shape);
NPU_LIST_NODE(Kind::kAddList, add);
NPU_LIST_NODE("ZerosLike", zeros);

}  // namespace
}  // namespace npu::graph
