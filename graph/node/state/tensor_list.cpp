// SPDX-License-Identifier: Apache-2.0
// Lists of tensors. Plans know the shape of a list's elements where all are alike (ListType), so that taking one out
// need not end a plan; lists of the client's (of strings, from its own nodes) stay with it.
#include "graph/value/tensor_list.h"

#include <cstring>
#include <numeric>

#include "graph/ir/literal.h"
#include "graph/node/run_integer.h"
#include "graph/plan/lowering.h"
#include "graph/run/frame.h"

namespace npu::graph {
namespace {

using List = std::shared_ptr<TensorList>;

const ListType& type_of(const Lowering& l, size_t i) {
  if (!l.input(i).list) l.decline("its list is the client's");
  return *l.input(i).list;
}

ValueType element_type(const Lowering& l) {
  const auto& type = l.attributes().get<ValueType>("element_dtype");
  if (type.is_tensor() ? size_of(type.dtype) == 0 : type.kind != ValueKind::kVariant)
    l.decline("lists of this type are the client's");
  return type;
}

/// A shape as these nodes take it: sizes with -1 for those unknown, or -1 alone.
PartialShape shape_input(const Lowering& l, size_t i) {
  const std::vector<int64_t> sizes = l.integers(i);
  if (l.shape(i).empty()) {
    require(sizes.front() == -1, "a shape is {}; without dimensions only -1 is one", sizes.front());
    return PartialShape::unknown();
  }
  return {Dims(sizes)};
}

Planned make_list(Lowering& l, size_t output, ListType type) {
  Planned out = l.object(output);
  out.list = std::make_shared<const ListType>(std::move(type));
  l.alias(output, out);
  return out;
}

const TensorList& read_list(Frame& frame, const Planned& list) {
  return static_cast<const TensorList&>(*frame.value(list).object);
}

/// The list for writing: the same object when nobody else needs it, else a copy (of handles to the elements).
List own_list(Frame& frame, const Planned& list) {
  auto mine = std::static_pointer_cast<TensorList>(frame.take(list).object);
  return mine.use_count() == 1 ? mine : std::make_shared<TensorList>(*mine);
}

void give_list(Frame& frame, const Planned& out, List list) { frame.set(out, {{}, nullptr, std::move(list)}); }

/// An output that is one element: its shape is known when all elements are alike.
Planned element_output(Lowering& l, size_t output, const ListType& type, const std::optional<Dims>& shape) {
  if (type.element.is_tensor())
    return shape ? l.late(output, type.element.dtype, *shape) : l.dynamic(output, type.element.dtype);
  // Of a list in the list nothing is known before it is there.
  const Planned out = l.object(output);
  l.end_plan();
  return out;
}

/// What the node asks of the elements' shape; not looked at (it may be known late) when the list tells enough.
PartialShape asked_shape(const Lowering& l, size_t i, const ListType& type) {
  return type.element.is_tensor() && type.needs_asked() ? shape_input(l, i) : PartialShape::unknown();
}

ListType with_gaps(ListType type) {
  type.gaps = true;
  return type;
}

void empty(Lowering& l) {
  const Planned most = l.input(1), out = make_list(l, 0, {element_type(l), shape_input(l, 0)});
  l.run({most, out}, [most, out, type = *out.list](Frame& frame) {
    auto list = std::make_shared<TensorList>(type);
    list->most = integer(frame, most);
    give_list(frame, out, std::move(list));
  });
}

void reserve(Lowering& l) {
  const Planned count = l.input(1), out = make_list(l, 0, with_gaps({element_type(l), shape_input(l, 0)}));
  l.run({count, out}, [count, out, type = *out.list](Frame& frame) {
    const int64_t elements = integer(frame, count);
    require(elements >= 0, "a list of {} elements is asked for", elements);
    auto list = std::make_shared<TensorList>(type);
    list->elements.resize(static_cast<size_t>(elements));
    give_list(frame, out, std::move(list));
  });
}

/// The type of a list that the rows of input `tensor` come into.
ListType with_rows(const Lowering& l, ListType type, size_t tensor) {
  require(!l.shape(tensor).empty(), "the tensor has no dimensions; its rows are to be elements");
  Dims row = l.shape(tensor);
  row.erase(0);
  type.hold(row);
  return type;
}

void from_tensor(Lowering& l) {
  const Planned in = l.input(0), out = make_list(l, 0, with_rows(l, {element_type(l), shape_input(l, 1)}, 0));
  l.keep(in);
  l.run({in, out}, [in, out, type = *out.list](Frame& frame) {
    auto list = std::make_shared<TensorList>(type);
    const Value rows = frame.value(in);
    for (int64_t i = 0; i < rows.tensor.shape[0]; ++i) list->elements.push_back(row_of(rows, i));
    give_list(frame, out, std::move(list));
  });
}

void scatter_rows(TensorList& list, const Value& rows, const std::vector<int64_t>& positions) {
  require(std::cmp_equal(positions.size(), rows.tensor.shape[0]), "{} indices are given for {} rows", positions.size(),
          rows.tensor.shape[0]);
  for (size_t i = 0; i < positions.size(); ++i) {
    require(positions[i] >= 0, "index {} is negative", positions[i]);
    const auto at = static_cast<size_t>(positions[i]);
    if (at >= list.elements.size()) list.elements.resize(at + 1);
    list.set(at, row_of(rows, static_cast<int64_t>(i)));
  }
}

void scatter(Lowering& l) {
  const Planned in = l.input(0), indices = l.input(1);
  const Planned out = make_list(l, 0, with_gaps(with_rows(l, {element_type(l), shape_input(l, 2)}, 0)));
  const Planned count = l.input_count() > 3 ? l.input(3) : indices;
  const bool sized = l.input_count() > 3;
  l.keep(in);
  l.run({in, indices, count, out}, [=, type = *out.list](Frame& frame) {
    const int64_t elements = sized ? integer(frame, count) : -1;
    auto list = std::make_shared<TensorList>(type);
    if (elements > 0) list->elements.resize(static_cast<size_t>(elements));
    scatter_rows(*list, frame.value(in), integers(frame, indices));
    require(elements < 0 || std::cmp_equal(list->elements.size(), elements), "an index lies beyond the {} elements",
            elements);
    give_list(frame, out, std::move(list));
  });
}

void scatter_into(Lowering& l) {
  const Planned from = l.input(0), in = l.input(1), indices = l.input(2);
  const Planned out = make_list(l, 0, with_gaps(with_rows(l, type_of(l, 0), 1)));
  l.keep(in);
  l.run({from, in, indices, out}, [=](Frame& frame) {
    List list = own_list(frame, from);
    list->type.gaps = true;
    scatter_rows(*list, frame.value(in), integers(frame, indices));
    give_list(frame, out, std::move(list));
  });
}

void split(Lowering& l) {
  const Planned in = l.input(0), lengths = l.input(2);
  ListType type(element_type(l), shape_input(l, 1));
  require(!in.shape().empty(), "the tensor has no dimensions; parts of it are to be elements");
  ListType planned = type;
  planned.mixed = true, planned.shape.reset();  // the lengths tell
  const Planned out = make_list(l, 0, planned);
  l.keep(in);
  l.run({in, lengths, out}, [=](Frame& frame) {
    auto list = std::make_shared<TensorList>(type);
    const Value rows = frame.value(in);
    int64_t start = 0;
    for (const int64_t length : integers(frame, lengths)) {
      require(length >= 0 && start + length <= rows.tensor.shape[0], "lengths pass the {} rows of the tensor",
              rows.tensor.shape[0]);
      Value part = rows;
      part.tensor.shape[0] = length;
      part.tensor.offset += start * count_of(rows.tensor.shape) / std::max<int64_t>(rows.tensor.shape[0], 1);
      list->push_back(std::move(part));
      start += length;
    }
    require(start == rows.tensor.shape[0], "lengths cover {} of {} rows", start, rows.tensor.shape[0]);
    give_list(frame, out, std::move(list));
  });
}

ListType with_item(const Lowering& l, ListType type, size_t item) {
  if (type.element.is_tensor()) {
    require(l.dtype(item) == type.element.dtype, "the list holds {}; {} is to come in", type.element.dtype,
            l.dtype(item));
    type.hold(l.shape(item));
  }
  return type;
}

void set_item(Lowering& l) {
  const Planned from = l.input(0), index = l.input(1), item = l.input(2);
  const bool grows = l.attributes().get_or<bool>("resize_if_index_out_of_bounds", false);
  const ListType type = with_item(l, type_of(l, 0), 2);
  const Planned out = make_list(l, 0, grows ? with_gaps(type) : type);
  l.keep(item);
  l.run({from, index, item, out}, [=](Frame& frame) {
    List list = own_list(frame, from);
    const int64_t at = integer(frame, index);
    list->type.gaps = list->type.gaps || grows;
    if (grows && std::cmp_greater_equal(at, list->elements.size())) list->elements.resize(static_cast<size_t>(at + 1));
    list->set(list->position(at), frame.value(item));
    give_list(frame, out, std::move(list));
  });
}

void push_back(Lowering& l) {
  const Planned from = l.input(0), item = l.input(1), out = make_list(l, 0, with_item(l, type_of(l, 0), 1));
  l.keep(item);
  l.run({from, item, out}, [=](Frame& frame) {
    List list = own_list(frame, from);
    list->push_back(frame.value(item));
    give_list(frame, out, std::move(list));
  });
}

void get_item(Lowering& l) {
  const ListType& type = type_of(l, 0);
  const PartialShape asked = asked_shape(l, 2, type);
  const Planned list = l.input(0), index = l.input(1), out = element_output(l, 0, type, type.element_shape(asked));
  l.run({list, index, out}, [=](Frame& frame) {
    const TensorList& from = read_list(frame, list);
    frame.set(out, element_of(frame.device(), from, from.position(integer(frame, index)), asked));
  });
}

void pop_back(Lowering& l) {
  const ListType& type = type_of(l, 0);
  const PartialShape asked = asked_shape(l, 1, type);
  const Planned from = l.input(0), out = make_list(l, 0, type);
  const Planned item = element_output(l, 1, type, type.element_shape(asked));
  l.run({from, out, item}, [=](Frame& frame) {
    List list = own_list(frame, from);
    require(!list->elements.empty(), "an element is taken from an empty list");
    frame.set(item, element_of(frame.device(), *list, list->elements.size() - 1, asked));
    list->elements.pop_back();
    give_list(frame, out, std::move(list));
  });
}

void resize(Lowering& l) {
  const Planned from = l.input(0), size = l.input(1), out = make_list(l, 0, with_gaps(type_of(l, 0)));
  l.run({from, size, out}, [=](Frame& frame) {
    List list = own_list(frame, from);
    const int64_t elements = integer(frame, size);
    require(elements >= 0, "a list of {} elements is asked for", elements);
    list->type.gaps = true;
    list->elements.resize(static_cast<size_t>(elements));
    give_list(frame, out, std::move(list));
  });
}

void concat_lists(Lowering& l) {
  ListType type = type_of(l, 0);
  type.join(type_of(l, 1));
  const Planned a = l.input(0), b = l.input(1), out = make_list(l, 0, type);
  l.run({a, b, out}, [=](Frame& frame) {
    // The second may be the first; held before, it makes own_list copy.
    const auto more = std::static_pointer_cast<TensorList>(frame.value(b).object);
    const List list = own_list(frame, a);
    list->type.join(more->type);
    list->elements.insert(list->elements.end(), more->elements.begin(), more->elements.end());
    give_list(frame, out, list);
  });
}

void length(Lowering& l) {
  type_of(l, 0);
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
  const PartialShape& shape = type_of(l, 0).declared;
  const bool wide = l.node().outputs.front().type.dtype == DType::kInt64;
  l.constant(0, wide ? shape_literal<int64_t>(shape) : shape_literal<int32_t>(shape));
}

/// The shape all of these elements have, those not set included.
Dims common_shape(const TensorList& list, const std::vector<size_t>& positions, const PartialShape& asked) {
  PartialShape shape = merged(list.type.declared, asked);
  for (const size_t at : positions)
    if (list.is_set(at)) shape = merged(shape, {list.elements[at].tensor.shape});
  if (!shape.known() && list.type.shape) shape.dims = list.type.shape;
  require(shape.known(), "{} elements are to be stacked, and of their shape only {} is known", positions.size(),
          to_string(shape));
  return *shape.dims;
}

/// Brings the elements at `positions(list)` as one tensor. `rows`: how many there are, where the plan knows.
template <class Positions>
void stack_elements(Lowering& l, std::vector<Planned> used, std::optional<int64_t> rows, const PartialShape& asked,
                    Positions positions) {
  const ListType& type = type_of(l, 0);
  if (!type.element.is_tensor()) l.decline("lists of lists cannot be stacked");
  const auto element = type.element_shape(asked);
  const DType dtype = type.element.dtype;
  const Planned list = l.input(0);
  Planned out;
  if (rows && element) {
    Dims shape = *element;
    shape.insert(0, *rows);
    out = l.make(0, dtype, shape);
  } else {
    out = l.dynamic(0, dtype);
  }
  used.push_back(list), used.push_back(out);
  l.run(used, [=](Frame& frame) {
    const TensorList& from = read_list(frame, list);
    const std::vector<size_t> at = positions(frame, from);
    const Dims row = common_shape(from, at, asked);
    if (!out.dynamic) return stack_into(frame.tensor(out), from, at, row);
    Dims shape = row;
    shape.insert(0, static_cast<int64_t>(at.size()));
    Value value = make_value(frame.device(), dtype, shape);
    stack_into(value.tensor, from, at, row);
    frame.set(out, std::move(value));
  });
}

void stack(Lowering& l) {
  const ListType& type = type_of(l, 0);
  const auto count = l.attributes().get_or<int64_t>("num_elements", -1);
  const std::optional<int64_t> rows = count < 0 ? std::nullopt : std::optional(count);
  stack_elements(l, {}, rows, asked_shape(l, 1, type), [rows](Frame&, const TensorList& list) {
    require(!rows || std::cmp_equal(list.elements.size(), *rows), "the list has {} elements; {} are expected",
            list.elements.size(), rows.value_or(0));
    std::vector<size_t> all(list.elements.size());
    std::iota(all.begin(), all.end(), size_t{0});
    return all;
  });
}

void gather(Lowering& l) {
  const ListType& type = type_of(l, 0);
  const Planned indices = l.input(1);
  stack_elements(l, {indices}, indices.view.count(), asked_shape(l, 2, type),
                 [indices](Frame& frame, const TensorList& list) {
                   std::vector<size_t> at;
                   for (const int64_t index : integers(frame, indices)) at.push_back(list.position(index));
                   return at;
                 });
}

/// The shape of a row of the elements, which agree in all dimensions but the first, and that first one where it is the
/// same for all.
struct Rows {
  PartialShape rest;
  int64_t first = kUnknownDim;
};

Rows rows_of(const TensorList& list, const PartialShape& asked) {
  PartialShape shape = merged(list.type.declared, asked);
  require(!shape.dims || !shape.dims->empty(),
          "elements without dimensions cannot be put one behind the other; stack them");
  Rows rows;
  bool seen = false;
  for (size_t i = 0; i < list.elements.size(); ++i) {
    if (!list.is_set(i)) continue;
    const Dims& dims = list.elements[i].tensor.shape;
    require(!dims.empty(), "element {} has no dimensions; it cannot be put behind others", i);
    rows.first = !seen || rows.first == dims[0] ? dims[0] : kUnknownDim;
    seen = true;
    PartialShape open{dims};
    (*open.dims)[0] = shape.dims ? (*shape.dims)[0] : kUnknownDim;
    shape = merged(shape, open);
  }
  if (!seen && shape.dims) rows.first = (*shape.dims)[0];
  if (shape.dims) shape.dims->erase(0);
  require(shape.known(), "elements are to be put one behind the other, and of the shape of their rows only {} is known",
          to_string(shape));
  rows.rest = shape;
  return rows;
}

std::vector<int64_t> row_counts(const TensorList& list, int64_t first, const std::vector<int64_t>& leading) {
  std::vector<int64_t> counts;
  for (size_t i = 0; i < list.elements.size(); ++i) {
    if (list.is_set(i)) {
      counts.push_back(list.elements[i].tensor.shape[0]);
    } else {
      require(i < leading.size() || first != kUnknownDim, "element {} was never set, and nothing tells its rows", i);
      counts.push_back(i < leading.size() ? leading[i] : first);
    }
  }
  return counts;
}

Value concatenated(int device, const TensorList& list, const Rows& rows, const std::vector<int64_t>& counts) {
  Dims shape = *rows.rest.dims;
  const int64_t row = count_of(shape) * static_cast<int64_t>(size_of(list.type.element.dtype));
  shape.insert(0, std::accumulate(counts.begin(), counts.end(), int64_t{0}));
  Value out = make_value(device, list.type.element.dtype, shape);
  std::byte* to = out.tensor.bytes();
  for (size_t i = 0; i < counts.size(); ++i) {
    const auto bytes = static_cast<size_t>(counts[i] * row);
    if (bytes > 0 && list.is_set(i)) std::memcpy(to, list.elements[i].tensor.bytes(), bytes);
    if (bytes > 0 && !list.is_set(i)) std::memset(to, 0, bytes);
    to += bytes;
  }
  return out;
}

void concat(Lowering& l) {
  const ListType& type = type_of(l, 0);
  if (!type.element.is_tensor()) l.decline("lists of lists have no rows");
  const bool second = l.input_count() > 1;
  const PartialShape asked =
      second ? shape_input(l, 1) : l.attributes().get_or<PartialShape>("element_shape", PartialShape::unknown());
  const Planned list = l.input(0), leading = second ? l.input(2) : list;
  const Planned out = l.dynamic(0, type.element.dtype), lengths = l.dynamic(1, DType::kInt64);
  l.run({list, leading, out, lengths}, [=](Frame& frame) {
    const TensorList& from = read_list(frame, list);
    const int device = frame.device();
    const Rows rows = rows_of(from, asked);
    const std::vector<int64_t> counts =
        row_counts(from, rows.first, second ? integers(frame, leading) : std::vector<int64_t>());
    frame.set(out, concatenated(device, from, rows, counts));
    Value told = make_value(device, DType::kInt64, {static_cast<int64_t>(counts.size())});
    std::copy(counts.begin(), counts.end(), told.tensor.as<int64_t>());
    frame.set(lengths, std::move(told));
  });
}

void add(Lowering& l) {
  ListType type = type_of(l, 0);
  std::vector<Planned> used;
  for (size_t i = 0; i < l.input_count(); ++i) {
    type.declared = merged(type.declared, type_of(l, i).declared);
    type.join(type_of(l, i));
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
  const Planned in = l.input(0), out = make_list(l, 0, type_of(l, 0));
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
NPU_NODE("TensorListStack", stack);
NPU_NODE("TensorListGather", gather);
NPU_NODE("TensorListConcat", concat);
NPU_NODE("TensorListConcatV2", concat);
NPU_LIST_NODE(Kind::kAddList, add);
NPU_LIST_NODE("ZerosLike", zeros);

}  // namespace
}  // namespace npu::graph
