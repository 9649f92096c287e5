// SPDX-License-Identifier: Apache-2.0
// A list of tensors, as loops collect and hand them out. Lists are values: who holds one never sees it change. A writer
// that is the only holder writes in place, so a loop that sets one element a turn costs one element a turn.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/ir/value_type.h"
#include "graph/value/element_vector.h"
#include "graph/value/value.h"

namespace npu::graph {

/// What a plan may count on of a list. It says nothing about how many elements there are: plans do not depend on that.
struct ListType {
  ValueType element;
  PartialShape declared;      ///< what elements must fit, but for those of some operators, which mix them
  bool mixed = false;         ///< elements may differ in shape
  bool gaps = false;          ///< some elements may never have been set
  std::optional<Dims> shape;  ///< that of all elements set, unless mixed; unknown until one is

  ListType(ValueType element_type, PartialShape element_shape);
  /// An element of this shape comes into the list, whether or not it fits what was declared.
  void hold(const Dims& element_shape);
  /// The elements of a second list come into it. Raises 161002 when the two hold different types.
  void join(const ListType& other);
  /// Whether the shape that is asked for adds to what is known.
  bool needs_asked() const { return !shape || (gaps && !declared.known()); }
  /// The shape of every element; none if elements differ or nothing determines it. One that was never set has the shape
  /// that is `asked`, which counts beside what was declared.
  std::optional<Dims> element_shape(const PartialShape& asked) const;
  /// What plans may count on, to be read, and as bytes for the key of a plan.
  std::string text() const;
  void add_to(std::string& key) const;
  bool operator==(const ListType&) const = default;
};

/// Whether no size of one contradicts the other.
bool compatible(const PartialShape& a, const PartialShape& b);
/// What both say. Raises 161002 when they contradict each other.
PartialShape merged(const PartialShape& a, const PartialShape& b);
/// The type of the sum of two lists. Raises 161002 when their dtypes or declared shapes differ.
ListType sum_type(const ListType& a, const ListType& b);

class TensorList final : public Object {
 public:
  explicit TensorList(ListType list_type) : type(std::move(list_type)) {}
  std::string traits() const override;
  std::shared_ptr<Object> zeros(int device) const override;
  std::shared_ptr<Object> plus(int device, const Object& other) const override;
  void add_traits(std::string& key) const override;
  /// Whether element `at` was set; those that were not read as zeros.
  bool is_set(size_t at) const { return elements.is_set(at); }
  void set(size_t at, Value element);
  /// Raises 161002 when the list is full.
  void push_back(Value element);
  /// Whether `index` is one of an element.
  bool contains(int64_t index) const { return index >= 0 && std::cmp_less(index, elements.size()); }
  /// Position `index`, which must be one of the list's. Raises 161002 otherwise.
  size_t position(int64_t index) const;

  ListType type;
  ElementVector elements;  ///< row-major tensors, or objects
  int64_t most = -1;       ///< elements it may have; below 0: kMostElements
};

/// `shape`, which must not contradict that of element `at` and gets its sizes, where it was set.
PartialShape merged_with_element(const PartialShape& shape, const TensorList& list, size_t at);
/// What an element that was never set reads as: zeros of the shape that is `asked`, which counts beside what was
/// declared and, unless that is a whole shape, beside the elements that were set. Raises 161002 when nothing determines
/// it.
Value unset_element(int device, const TensorList& list, const PartialShape& asked);
/// The same of one that is taken off the end, for which the other elements do not count.
Value unset_last(int device, const TensorList& list, const PartialShape& asked);
/// Row `at` of a row-major tensor, over the same memory.
Value row_of(const Value& tensor, int64_t at);
/// The elements at `positions` one after another in `out`, each of `shape`. Raises 161002 for one of another shape.
void stack_into(const Tensor& out, const TensorList& list, const std::vector<size_t>& positions, const Dims& shape);
/// Element by element; those not set in one list are those of the other. Raises 161002 for lists of different length,
/// type or shapes.
std::shared_ptr<TensorList> add_lists(int device, const TensorList& a, const TensorList& b);
std::shared_ptr<TensorList> zeros_like(int device, const TensorList& list);

}  // namespace npu::graph
