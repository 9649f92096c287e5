// SPDX-License-Identifier: Apache-2.0
// Elements of a list as one tensor: stacked, gathered, one behind the other. The checks come in the order of the
// client's kernels, so that a call with several faults is refused for the same one.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "graph/node/run_integer.h"
#include "graph/node/state/list_node.h"
#include "graph/value/client_text.h"
#include "graph/value/element_limit.h"
#include "graph/value/room.h"

namespace npu::graph {
namespace {

/// Larger outputs get memory in the run: the plan takes their size from an attribute, before any list is seen.
constexpr int64_t kLargestPlanned = int64_t{64} << 20;
constexpr std::string_view kCure = "give the sizes of an element as element_shape";

const ListType& list_of_tensors(const Lowering& l) {
  const ListType& type = list_of_node_type(l, 0);
  if (!type.element.is_tensor()) l.decline("lists of lists are no rows of a tensor");
  return type;
}

/// Where the elements go: memory of the plan, or memory that the run brings.
struct RowsOutput {
  Planned planned;
  bool in_plan = false;
};

/// `rows`, `element`: how many elements of which shape, where the plan knows.
RowsOutput rows_output(Lowering& l, DType dtype, std::optional<int64_t> rows, const std::optional<Dims>& element) {
  if (!rows || !element || *rows < 0 || *rows > kMostElements) return {l.dynamic(0, dtype)};
  Dims shape = *element;
  shape.insert(0, *rows);
  if (room_of(dtype, shape) > kLargestPlanned) return {l.late(0, dtype, shape)};
  return {l.make(0, dtype, shape), true};
}

/// The elements at `positions()`, each of the shape `element`. For an empty output no position is asked for, so that
/// none is refused: the client's kernels return as early.
template <class Positions>
void give_rows(Frame& frame, const RowsOutput& out, const TensorList& list, int64_t rows, const Dims& element,
               Positions&& positions) {
  Dims shape = element;
  shape.insert(0, rows);
  check_planned(shape, out.planned);
  Value value;
  if (!out.in_plan) value = make_value(frame.device(), list.type.element.dtype, shape);
  if (count_of(shape) > 0)
    stack_into(out.in_plan ? frame.tensor(out.planned) : value.tensor, list, positions(), element);
  if (!out.in_plan) frame.set(out.planned, std::move(value));
}

std::vector<size_t> all_positions(const TensorList& list) {
  std::vector<size_t> all(list.elements.size());
  std::iota(all.begin(), all.end(), size_t{0});
  return all;
}

void check_known(const PartialShape& shape, std::string_view refusal) {
  if (!shape.known()) fail(Code::kNnInvalidParam, "{}{}; {}", refusal, client_text(shape), kCure);
}

/// The shape of all elements of a list.
Dims shape_of_all(const TensorList& list, const PartialShape& asked) {
  PartialShape shape = merged(asked, list.type.declared);
  if (list.elements.empty())
    check_known(shape, "Tried to stack elements of an empty list with non-fully-defined element_shape: ");
  if (!list.type.declared.known())
    for (size_t i = 0; i < list.elements.size(); ++i) shape = merged_with_element(shape, list, i);
  check_known(shape,
              "Tried to stack list which only contains uninitialized tensors and has a non-fully-defined "
              "element_shape: ");
  return *shape.dims;
}

void stack(Lowering& l) {
  const ListType& type = list_of_tensors(l);
  const auto count = l.attributes().get_or<int64_t>("num_elements", -1);
  const Planned list = l.input(0), asked = l.input(1);
  const RowsOutput out = rows_output(l, type.element.dtype, count == -1 ? std::nullopt : std::optional(count),
                                     type.element_shape(planned_shape(l, 1, type)));
  l.run({list, asked, out.planned}, [=, op = l.node().op](Frame& frame) {
    const TensorList& from = read_list(frame, list);
    const auto rows = static_cast<int64_t>(from.elements.size());
    require(count == -1 || rows == count, "Operation expected a list with {} elements but got a list with {} elements.",
            count, rows);
    give_rows(frame, out, from, rows, shape_of_all(from, shape_input(frame, asked, op)),
              [&] { return all_positions(from); });
  });
}

/// The shape of the elements at these indices. Where the list declares a whole shape, no element is looked at.
Dims shape_of_some(const TensorList& list, const std::vector<int64_t>& indices, const PartialShape& asked) {
  PartialShape shape = merged(asked, list.type.declared);
  if (indices.empty()) check_known(shape, "Tried to gather 0-elements from a list with non-fully-defined shape: ");
  if (!list.type.declared.known())
    for (const int64_t index : indices) {
      require(list.contains(index), "Trying to gather element {} in a list with {} elements.", index,
              list.elements.size());
      shape = merged_with_element(shape, list, static_cast<size_t>(index));
    }
  check_known(shape, "Tried to gather uninitialized tensors from a list with non-fully-defined element_shape: ");
  return *shape.dims;
}

std::vector<size_t> positions_of(const TensorList& list, const std::vector<int64_t>& indices) {
  std::vector<size_t> positions;
  for (const int64_t index : indices) {
    require(list.contains(index), "Index {} out o range; list only has {} elements.", index, list.elements.size());
    positions.push_back(static_cast<size_t>(index));
  }
  return positions;
}

void gather(Lowering& l) {
  const ListType& type = list_of_tensors(l);
  const Planned list = l.input(0), indices = l.input(1), asked = l.input(2);
  const RowsOutput out =
      rows_output(l, type.element.dtype, count_of(l.shape(1)), type.element_shape(planned_shape(l, 2, type)));
  l.run({list, indices, asked, out.planned}, [=, op = l.node().op](Frame& frame) {
    const TensorList& from = read_list(frame, list);
    const std::vector<int64_t> at = integers(frame, indices);
    give_rows(frame, out, from, static_cast<int64_t>(at.size()), shape_of_some(from, at, shape_input(frame, asked, op)),
              [&] { return positions_of(from, at); });
  });
}

/// The shape of a row of the elements, which agree in all dimensions but the first, and that first one, which elements
/// never set have, where it is the same for all.
struct Rows {
  PartialShape rest;
  int64_t first = kUnknownDim;
};

/// What the node's element_shape says of the rows.
Rows asked_rows(PartialShape shape, std::string_view refusal) {
  if (!shape.rank_known()) return {};
  require(!shape.dims->empty(), "{} Scalars have no rows; stack them", refusal);
  Rows rows{shape, (*shape.dims)[0]};
  rows.rest.dims->erase(0);
  return rows;
}

/// The shape of a row of element `at`.
Dims row_of_element(const TensorList& list, size_t at) {
  Dims row = list.elements[at].tensor.shape;
  require(!row.empty(), "Concat saw a scalar shape at index {} but requires at least vectors.", at);
  row.erase(0);
  return row;
}

/// What elements of different lengths leave open stays so: of a list that declares a whole shape nothing is inferred.
Rows inferred_rows(const TensorList& list, Rows rows) {
  const bool declared = list.type.declared.known();
  const int64_t wanted = rows.first;
  bool alike = wanted == kUnknownDim;
  for (size_t i = 0; i < list.elements.size(); ++i) {
    if (!list.is_set(i)) continue;
    const PartialShape rest = merged(rows.rest, {row_of_element(list, i)});
    if (declared) continue;
    rows.rest = rest;
    const int64_t first = list.elements[i].tensor.shape[0];
    require(wanted == kUnknownDim || wanted == first,
            "First entry of element_shape input does not match the first dim of list element at index: {} Expected: {} "
            "Actual: {}",
            i, wanted, first);
    if (!alike) continue;
    alike = rows.first == kUnknownDim || rows.first == first;
    rows.first = alike ? first : kUnknownDim;
  }
  return rows;
}

Rows rows_of(const TensorList& list, const Rows& asked) {
  if (list.elements.empty())
    check_known(asked.rest,
                "All except the first dimension must be fully defined when concating an empty tensor list. "
                "element_shape: ");
  const Rows rows = inferred_rows(list, asked);
  check_known(rows.rest,
              "Trying to concat list with only uninitialized tensors but element_shape_except_first_dim is not fully "
              "defined: ");
  return rows;
}

/// The rows of element `at` that was never set. `leading`: those the node gives; null for a node that cannot.
int64_t unset_rows(size_t at, int64_t first, const std::vector<int64_t>* leading) {
  const bool given = leading != nullptr && at < leading->size();
  if (!given && first != kUnknownDim) return first;
  require(leading != nullptr,
          "Concating lists with uninitialized tensors is not supported in this version of TensorListConcat. Consider "
          "updating your GraphDef to run the newer version.");
  require(given, "List contains uninitialized tensor at index {} but leading_dims has only {} elements.", at,
          leading->size());
  const int64_t rows = (*leading)[at];
  require(rows >= 0, "leading_dims[{}] is {}; an element has at least 0 rows", at, rows);
  return rows;
}

std::vector<int64_t> row_counts(const TensorList& list, int64_t first, const std::vector<int64_t>* leading) {
  std::vector<int64_t> counts;
  for (size_t i = 0; i < list.elements.size(); ++i)
    counts.push_back(list.is_set(i) ? list.elements[i].tensor.shape[0] : unset_rows(i, first, leading));
  return counts;
}

int64_t sum_of_rows(const std::vector<int64_t>& counts) {
  int64_t sum = 0;
  for (const int64_t count : counts)
    require(!__builtin_add_overflow(sum, count, &sum), "the elements have more than 2**63 - 1 rows; an element has {}",
            count);
  return sum;
}

Value concatenated(int device, const TensorList& list, const Dims& row, const std::vector<int64_t>& counts) {
  Dims shape = row;
  shape.insert(0, sum_of_rows(counts));
  Value out = make_value(device, list.type.element.dtype, shape);
  const int64_t row_bytes = count_of(row) * static_cast<int64_t>(size_of(list.type.element.dtype));
  std::byte* to = out.tensor.bytes();
  for (size_t i = 0; i < counts.size(); ++i) {
    const auto bytes = static_cast<size_t>(counts[i] * row_bytes);
    if (bytes > 0 && list.is_set(i)) std::memcpy(to, list.elements[i].tensor.bytes(), bytes);
    if (bytes > 0 && !list.is_set(i)) std::memset(to, 0, bytes);
    to += bytes;
  }
  return out;
}

void give_concatenated(Frame& frame, const Planned& out, const Planned& lengths, const TensorList& list,
                       const Rows& rows, const std::vector<int64_t>& counts) {
  frame.set(out, concatenated(frame.device(), list, *rows.rest.dims, counts));
  Value value = make_value(frame.device(), DType::kInt64, {static_cast<int64_t>(counts.size())});
  std::copy(counts.begin(), counts.end(), value.tensor.as<int64_t>());
  frame.set(lengths, std::move(value));
}

/// The shape is an attribute, and the list's own does not count.
void concat(Lowering& l) {
  const ListType& type = list_of_tensors(l);
  Rows asked = asked_rows(l.attributes().get_or<PartialShape>("element_shape", PartialShape::unknown()),
                          "element_shape must not be empty.");
  asked.first = kUnknownDim;
  const Planned list = l.input(0), out = l.dynamic(0, type.element.dtype), lengths = l.dynamic(1, DType::kInt64);
  l.run({list, out, lengths}, [=](Frame& frame) {
    const TensorList& from = read_list(frame, list);
    const Rows rows = rows_of(from, asked);
    give_concatenated(frame, out, lengths, from, rows, row_counts(from, rows.first, nullptr));
  });
}

/// The shape is an input, and so are the lengths of elements that were never set.
void concat_given_lengths(Lowering& l) {
  const ListType& type = list_of_tensors(l);
  const Planned list = l.input(0), shape = l.input(1), given = l.input(2);
  const Planned out = l.dynamic(0, type.element.dtype), lengths = l.dynamic(1, DType::kInt64);
  l.run({list, shape, given, out, lengths}, [=, op = l.node().op](Frame& frame) {
    const TensorList& from = read_list(frame, list);
    const Rows asked = asked_rows(merged(shape_input(frame, shape, op), from.type.declared),
                                  "Concat requires elements to be at least vectors, found scalars instead.");
    const Rows rows = rows_of(from, asked);
    const std::vector<int64_t> leading = integers(frame, given);
    give_concatenated(frame, out, lengths, from, rows, row_counts(from, rows.first, &leading));
  });
}

NPU_NODE("TensorListStack", stack);
NPU_NODE("TensorListGather", gather);
NPU_NODE("TensorListConcat", concat);
NPU_NODE("TensorListConcatV2", concat_given_lengths);

}  // namespace
}  // namespace npu::graph
