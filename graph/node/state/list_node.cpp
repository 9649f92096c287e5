// SPDX-License-Identifier: Apache-2.0
#include "graph/node/state/list_node.h"

#include <algorithm>
#include <span>

#include "graph/node/run_integer.h"
#include "graph/value/client_text.h"
#include "graph/value/optional.h"

namespace npu::graph {
namespace {

/// Sizes are counted up to the first that is unknown; behind it nothing is known of the product.
bool countable(const Dims& sizes) {
  int64_t count = 1;
  for (const int64_t size : sizes) {
    if (size == kUnknownDim) return true;
    if (__builtin_mul_overflow(count, size, &count)) return false;
  }
  return true;
}

PartialShape shape_of(std::span<const int64_t> sizes, const Dims& form, std::string_view op) {
  require(form.size() < 2, "{}: element_shape must be at most rank 1 but has the shape of {}", op, client_text(form));
  if (form.empty()) {
    require(sizes.front() == kUnknownDim,
            "The only valid scalar shape tensor is the fully unknown shape specified as -1.");
    return PartialShape::unknown();
  }
  for (const int64_t size : sizes) require(size >= kUnknownDim, "Dimension {} must be >= -1", size);
  const Dims dims(sizes);
  require(countable(dims), "Shape {} would have more than 2**63 - 1 elements", client_text(dims));
  return {dims};
}

}  // namespace

const ListType& list_type(const Lowering& l, size_t i) {
  const Planned& in = l.input(i);
  if (in.list) return *in.list;
  const auto* optional = in.argument < 0 ? nullptr : dynamic_cast<const Optional*>(l.object_of(i));
  require(optional == nullptr, "Input handle is not a list. Saw: '{}'", optional ? optional->traits() : "");
  l.decline("its list is the client's");
}

const ListType& list_of_node_type(const Lowering& l, size_t i) {
  const ListType& type = list_type(l, i);
  const auto* asked = l.attributes().find<ValueType>("element_dtype");
  require(asked == nullptr || *asked == type.element, "Invalid data types; op elements {} but list elements {}",
          client_text(asked == nullptr ? type.element : *asked), client_text(type.element));
  return type;
}

const Planned& scalar_input(const Lowering& l, size_t i, std::string_view refusal) {
  require(l.shape(i).empty(), "{}{}", refusal, client_text(l.shape(i)));
  return l.input(i);
}

PartialShape shape_input(const Lowering& l, size_t i, std::string_view op) {
  const std::vector<int64_t> sizes = l.integers(i);
  return shape_of(sizes, l.shape(i), op);
}

PartialShape shape_input(Frame& frame, const Planned& sizes, std::string_view op) {
  return shape_of(integers(frame, sizes), sizes.shape(), op);
}

PartialShape planned_shape(const Lowering& l, size_t i, const ListType& type) {
  return type.element.is_tensor() && type.needs_asked() ? shape_input(l, i, l.node().op) : PartialShape::unknown();
}

const TensorList& read_list(Frame& frame, const Planned& list) {
  return static_cast<const TensorList&>(*frame.value(list).object);
}

void check_planned(const Dims& shape, const Planned& planned) {
  require(planned.dynamic || shape == planned.shape(),
          "the list came to hold elements of another shape while the function ran: {}, and {} is planned", shape,
          planned.shape());
}

}  // namespace npu::graph
