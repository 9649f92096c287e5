// SPDX-License-Identifier: Apache-2.0
// Nodes of lists with elements never set, scalars, no elements, sizes below zero and beyond the bound: what they give,
// and the sentence that refuses what they cannot.
#include "graph/value/tensor_list.h"

#include <gtest/gtest.h>

#include <functional>
#include <span>

#include "device/device_fixture.h"
#include "graph/dump/watched_library.h"
#include "graph/graph_fixture.h"
#include "graph/run/executable.h"

namespace npu::graph {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<int32_t>;
const ValueType kFloats = ValueType::tensor(DType::kFloat), kInts = ValueType::tensor(DType::kInt32);

/// One function of nodes of lists.
class Lists {
 public:
  Edge number(int32_t value) { return f_.constant<int32_t>({}, {value}); }
  Edge ints(const Ints& values) { return f_.constant<int32_t>({static_cast<int64_t>(values.size())}, values); }
  Edge longs(const std::vector<int64_t>& values) {
    return f_.constant<int64_t>({static_cast<int64_t>(values.size())}, values);
  }
  /// 1, 2, 3…
  Edge floats(const Dims& shape) {
    Floats numbers(static_cast<size_t>(count_of(shape)));
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i + 1);
    return f_.constant<float>(shape, numbers);
  }
  Edge unknown() { return number(-1); }
  Edge scalar() { return ints({}); }
  Edge list(const std::string& op, std::vector<Edge> inputs, ValueType element = kFloats) {
    const Edge edge = f_.node(op, std::move(inputs), ValueType::variant());
    f_.with(edge, "element_dtype", element);
    return edge;
  }
  Edge tensor(const std::string& op, std::vector<Edge> inputs, size_t outputs = 1, ValueType element = kFloats) {
    const Edge edge = f_.node(op, std::move(inputs), element, outputs);
    f_.with(edge, "element_dtype", element);
    return edge;
  }
  Edge reserved(int32_t count, Edge shape) { return list("TensorListReserve", {shape, number(count)}); }
  Edge empty(int32_t most = -1) { return list("EmptyTensorList", {unknown(), number(most)}); }
  /// A list of the rows of floats(shape).
  Edge rows(const Dims& shape, Edge declared) { return list("TensorListFromTensor", {floats(shape), declared}); }
  Edge rows(const Dims& shape) { return rows(shape, unknown()); }
  Edge item(Edge from, int32_t index, Edge shape) { return tensor("TensorListGetItem", {from, number(index), shape}); }
  Edge set(Edge from, int32_t index, Edge item, bool grows = false) {
    const Edge edge = list("TensorListSetItem", {from, number(index), item});
    f_.with(edge, "resize_if_index_out_of_bounds", grows);
    return edge;
  }
  Edge popped(Edge from, Edge shape) {
    const Edge edge = tensor("TensorListPopBack", {from, shape}, 2);
    (*f_.function())[edge.node].outputs[0].type = ValueType::variant();
    return {edge.node, 1};
  }
  Edge stacked(Edge from, Edge shape, int64_t count = -1) {
    const Edge edge = tensor("TensorListStack", {from, shape});
    f_.with(edge, "num_elements", count);
    return edge;
  }
  Edge stacked(Edge from) { return stacked(from, unknown()); }
  Edge concat(Edge from, const PartialShape& shape) {
    const Edge edge = tensor("TensorListConcat", {from}, 2);
    lengths(edge);
    f_.with(edge, "element_shape", shape);
    return edge;
  }
  Edge concat_to(Edge from, Edge shape, const std::vector<int64_t>& leading) {
    const Edge edge = tensor("TensorListConcatV2", {from, shape, longs(leading)}, 2);
    lengths(edge);
    return edge;
  }
  Edge length(Edge from) { return tensor("TensorListLength", {from}, 1, kInts); }
  TestFunction& function() { return f_; }

  std::vector<Value> run(Edge result) {
    f_.result(result);
    Program program;
    program.add(f_.function());
    WatchedLibrary library(0);
    library.add(program);
    return library.get("f")->run({});
  }

 private:
  void lengths(Edge edge) { (*f_.function())[edge.node].outputs[1].type = ValueType::tensor(DType::kInt64); }
  TestFunction f_{"f"};
};

struct Given {
  const char* name;
  std::function<Edge(Lists&)> call;
  Dims shape;
  Floats numbers;
};

TEST(ListNodes, GiveWhatTheElementsAre) {
  const Given cases[] = {
      {"never set, of the declared shape",
       [](Lists& l) { return l.item(l.reserved(2, l.ints({2})), 1, l.unknown()); },
       {2},
       {0, 0}},
      {"never set, a scalar", [](Lists& l) { return l.item(l.reserved(2, l.scalar()), 0, l.unknown()); }, {}, {0}},
      {"never set, of the shape asked for",
       [](Lists& l) { return l.item(l.set(l.reserved(2, l.unknown()), 0, l.floats({3})), 1, l.ints({2})); },
       {2},
       {0, 0}},
      {"never set, of no elements",
       [](Lists& l) { return l.item(l.reserved(1, l.ints({0, 2})), 0, l.unknown()); },
       {0, 2},
       {}},
      {"set, whatever shape is asked for",
       [](Lists& l) { return l.item(l.rows({2, 2}), 1, l.ints({5})); },
       {2},
       {3, 4}},
      {"popped", [](Lists& l) { return l.popped(l.rows({2, 2}), l.unknown()); }, {2}, {3, 4}},
      {"popped and never set", [](Lists& l) { return l.popped(l.reserved(1, l.unknown()), l.ints({1})); }, {1}, {0}},
      {"stack of scalars", [](Lists& l) { return l.stacked(l.rows({3})); }, {3}, {1, 2, 3}},
      {"stack of no elements", [](Lists& l) { return l.stacked(l.empty(), l.ints({2})); }, {0, 2}, {}},
      {"stack of no rows", [](Lists& l) { return l.stacked(l.rows({0, 2}), l.ints({2}), 0); }, {0, 2}, {}},
      {"stack with some never set",
       [](Lists& l) { return l.stacked(l.set(l.reserved(2, l.unknown()), 1, l.floats({1}))); },
       {2, 1},
       {0, 1}},
      {"stack of elements of no size", [](Lists& l) { return l.stacked(l.rows({2, 0})); }, {2, 0}, {}},
      {"gather of no elements",
       [](Lists& l) { return l.tensor("TensorListGather", {l.rows({2, 2}), l.ints({}), l.ints({2})}); },
       {0, 2},
       {}},
      {"gather twice the same",
       [](Lists& l) { return l.tensor("TensorListGather", {l.rows({2}), l.ints({1, 1}), l.unknown()}); },
       {2},
       {2, 2}},
      {"gather of positions outside, of no size",
       [](Lists& l) { return l.tensor("TensorListGather", {l.rows({2, 0}, l.ints({0})), l.ints({7}), l.unknown()}); },
       {1, 0},
       {}},
      {"concat of elements never set",
       [](Lists& l) { return l.concat_to(l.reserved(2, l.ints({-1, 1})), l.unknown(), {1, 2}); },
       {3, 1},
       {0, 0, 0}},
      {"concat of no elements", [](Lists& l) { return l.concat_to(l.empty(), l.ints({-1, 3}), {}); }, {0, 3}, {}},
      {"concat of an element never set, as long as the others",
       [](Lists& l) { return l.concat(l.set(l.reserved(2, l.unknown()), 1, l.floats({2})), PartialShape::unknown()); },
       {4},
       {0, 0, 1, 2}},
      {"split into parts of another length than declared",
       [](Lists& l) {
         const Edge parts = l.list("TensorListSplit", {l.floats({3}), l.ints({2}), l.longs({1, 0, 2})});
         return l.item(parts, 2, l.unknown());
       },
       {2},
       {2, 3}},
      {"scatter into a list of another shape",
       [](Lists& l) {
         const Edge into =
             l.list("TensorListScatterIntoExistingList", {l.rows({1, 2}, l.ints({2})), l.floats({1, 1}), l.ints({1})});
         return l.item(into, 1, l.unknown());
       },
       {1},
       {1}},
      {"scatter of nothing",
       [](Lists& l) {
         return l.stacked(l.list("TensorListScatterV2", {l.floats({0, 1}), l.ints({}), l.ints({1}), l.number(2)}));
       },
       {2, 1},
       {0, 0}},
  };
  for (const Given& one : cases) {
    SCOPED_TRACE(one.name);
    Lists lists;
    const Value got = lists.run(one.call(lists)).front();
    EXPECT_EQ(got.tensor.shape, one.shape);
    EXPECT_EQ(numbers_of<float>(got), one.numbers);
  }
}

struct Refused {
  std::function<Edge(Lists&)> call;
  std::string sentence;
};

void check(std::span<const Refused> cases) {
  for (const Refused& one : cases) {
    SCOPED_TRACE(one.sentence);
    Lists lists;
    const Edge result = one.call(lists);
    EXPECT_ERROR(lists.run(result), Code::kNnInvalidParam, one.sentence);
  }
}

TEST(ListNodes, RefuseShapesThatAreNone) {
  const Refused cases[] = {
      {[](Lists& l) { return l.reserved(1, l.number(-2)); }, "The only valid scalar shape tensor is the fully unknown"},
      {[](Lists& l) { return l.reserved(1, l.ints({2, -3})); }, "Dimension -3 must be >= -1"},
      {[](Lists& l) { return l.reserved(1, l.longs({1LL << 40, 1LL << 40})); },
       "Shape [1099511627776,1099511627776] would have more than 2**63 - 1 elements"},
      {[](Lists& l) { return l.rows({2, 1}, l.function().constant<int32_t>({1, 1}, {1})); },
       "TensorListFromTensor: element_shape must be at most rank 1 but has the shape of [1,1]"},
      {[](Lists& l) { return l.rows({2, 3}, l.ints({2})); },
       "Specified a list with shape [2] from a tensor with shape [3]"},
      {[](Lists& l) { return l.rows({}); }, "Tensor must be at least a vector, but saw shape: []"},
      {[](Lists& l) { return l.list("TensorListSplit", {l.floats({2}), l.scalar(), l.longs({2})}); },
       "requires element_shape to be at least of rank 1, but saw: []"},
      {[](Lists& l) { return l.list("TensorListSplit", {l.floats({2, 3}), l.ints({-1, 2}), l.longs({2})}); },
       "tensor shape [2,3] is not compatible with element_shape [?,2]"},
      {[](Lists& l) { return l.list("TensorListPushBack", {l.reserved(0, l.ints({2})), l.floats({3})}); },
       "Op element shape: [3] list shape: [2]"},
      {[](Lists& l) { return l.set(l.reserved(1, l.ints({-1})), 0, l.floats({})); },
       "Item element shape: [] list shape: [?]"},
      {[](Lists& l) { return l.stacked(l.rows({2, 3}), l.ints({2})); },
       "PartialTensorShape: Incompatible shapes during merge: [2] vs. [3]"},
      {[](Lists& l) { return l.item(l.reserved(1, l.ints({3})), 0, l.ints({1, 3})); },
       "Incompatible ranks during merge"},
      {[](Lists& l) { return l.item(l.reserved(1, l.ints({-1})), 0, l.unknown()); },
       "not fully defined: [?] and no list"},
      {[](Lists& l) { return l.popped(l.set(l.reserved(2, l.unknown()), 0, l.floats({1})), l.unknown()); },
       "element_shape is not fully defined.<unknown>"},
      {[](Lists& l) { return l.stacked(l.empty()); }, "Tried to stack elements of an empty list"},
      {[](Lists& l) { return l.stacked(l.reserved(2, l.unknown())); },
       "Tried to stack list which only contains uninitialized tensors"},
      {[](Lists& l) { return l.tensor("TensorListGather", {l.rows({2, 2}), l.ints({}), l.unknown()}); },
       "Tried to gather 0-elements from a list with non-fully-defined shape: <unknown>"},
      {[](Lists& l) { return l.tensor("TensorListGather", {l.reserved(2, l.unknown()), l.ints({0}), l.unknown()}); },
       "Tried to gather uninitialized tensors"},
      {[](Lists& l) { return l.stacked(l.set(l.rows({2, 2}), 0, l.floats({}))); }, "during merge"},
  };
  check(cases);
}

TEST(ListNodes, RefuseToConcatenateWhatHasNoRows) {
  const PartialShape unknown = PartialShape::unknown(), scalar{Dims{}};
  const Refused cases[] = {
      {[=](Lists& l) { return l.concat(l.reserved(3, l.scalar()), scalar); }, "element_shape must not be empty"},
      {[=](Lists& l) { return l.concat(l.rows({2}), unknown); }, "Concat saw a scalar shape at index 0"},
      {[=](Lists& l) { return l.concat(l.rows({2}, l.scalar()), PartialShape{Dims{kUnknownDim}}); },
       "Concat saw a scalar shape at index 0"},
      {[=](Lists& l) { return l.concat_to(l.reserved(3, l.scalar()), l.unknown(), {}); },
       "Concat requires elements to be at least vectors, found scalars instead."},
      {[=](Lists& l) { return l.concat(l.empty(), unknown); }, "when concating an empty tensor list"},
      {[=](Lists& l) { return l.concat_to(l.reserved(1, l.unknown()), l.unknown(), {1}); },
       "Trying to concat list with only uninitialized tensors but element_shape_except_first_dim is not fully defined"},
      {[=](Lists& l) { return l.concat(l.rows({2, 3}, l.ints({3})), unknown); },
       "element_shape_except_first_dim is not fully defined: <unknown>"},
      {[=](Lists& l) {
         const Edge two = l.set(l.reserved(2, l.unknown()), 1, l.floats({2}));
         return l.concat(l.list("TensorListPushBack", {two, l.floats({1})}), unknown);
       },
       "Concating lists with uninitialized tensors is not supported"},
      {[=](Lists& l) { return l.concat(l.reserved(1, l.ints({1, 2})), PartialShape{Dims{1, 2}}); },
       "Concating lists with uninitialized tensors is not supported in this version of TensorListConcat."},
      {[=](Lists& l) { return l.concat_to(l.reserved(2, l.ints({-1, 2})), l.unknown(), {1}); },
       "List contains uninitialized tensor at index 1 but leading_dims has only 1 elements."},
      {[=](Lists& l) { return l.concat_to(l.reserved(1, l.ints({-1, 2})), l.unknown(), {-1}); },
       "leading_dims[0] is -1"},
      {[=](Lists& l) { return l.concat_to(l.reserved(2, l.ints({-1, 0})), l.unknown(), {INT64_MAX, INT64_MAX}); },
       "more than 2**63 - 1 rows"},
      {[=](Lists& l) { return l.concat_to(l.rows({2, 3, 1}), l.ints({2, 1}), {}); },
       "First entry of element_shape input does not match the first dim of list element at index: 0 Expected: 2 "
       "Actual: 3"},
      {[=](Lists& l) { return l.concat(l.set(l.rows({2, 3, 1}), 1, l.floats({3, 2})), unknown); },
       "PartialTensorShape: Incompatible shapes during merge: [1] vs. [2]"},
  };
  check(cases);
}

TEST(ListNodes, RefusePositionsAndSizes) {
  const Refused cases[] = {
      {[](Lists& l) { return l.item(l.rows({4}), 4, l.unknown()); },
       "Trying to access element 4 in a list with 4 elements."},
      {[](Lists& l) { return l.item(l.rows({4}), -1, l.unknown()); }, "Trying to access element -1 in a list with 4"},
      {[](Lists& l) { return l.tensor("TensorListGetItem", {l.rows({4}), l.ints({}), l.unknown()}); },
       "an index is one number; it has the shape [0]"},
      {[](Lists& l) { return l.set(l.rows({4}), 4, l.floats({})); },
       "Trying to modify element 4 in a list with 4 elements."},
      {[](Lists& l) { return l.set(l.rows({4}), -1, l.floats({}), true); }, "Trying to modify element -1 in a list"},
      {[](Lists& l) { return l.popped(l.empty(), l.unknown()); }, "Trying to pop from an empty list."},
      {[](Lists& l) { return l.list("TensorListPushBack", {l.empty(0), l.floats({})}); },
       "Tried to push item into a full list list size: 0 max_num_elements: 0"},
      {[](Lists& l) { return l.reserved(-1, l.unknown()); },
       "The num_elements to reserve must be a non negative number, but got -1"},
      {[](Lists& l) { return l.list("TensorListReserve", {l.unknown(), l.ints({1})}); },
       "The num_elements to reserve must be a tensor size 1, but got [1]"},
      {[](Lists& l) { return l.list("EmptyTensorList", {l.unknown(), l.ints({1})}); },
       "max_num_elements expected to be a scalar but got shape: [1]"},
      {[](Lists& l) { return l.list("TensorListResize", {l.rows({1}), l.number(-2)}); },
       "TensorListSlice expects size to be non-negative. Got: -2"},
      {[](Lists& l) { return l.list("TensorListResize", {l.rows({1}), l.ints({})}); }, "size must be a scalar"},
      {[](Lists& l) { return l.stacked(l.rows({2}), l.unknown(), 3); },
       "Operation expected a list with 3 elements but got a list with 2 elements."},
      {[](Lists& l) { return l.stacked(l.rows({2}), l.unknown(), -5); }, "Operation expected a list with -5 elements"},
      {[](Lists& l) { return l.stacked(l.rows({2, 4}), l.unknown(), INT32_MAX); }, "expected a list with 2147483647"},
      {[](Lists& l) { return l.tensor("TensorListGather", {l.rows({2}), l.ints({0, 2}), l.unknown()}); },
       "Trying to gather element 2 in a list with 2 elements."},
      {[](Lists& l) { return l.tensor("TensorListGather", {l.rows({2}, l.scalar()), l.ints({-1}), l.unknown()}); },
       "Index -1 out o range; list only has 2 elements."},
      {[](Lists& l) { return l.list("TensorListScatter", {l.floats({2}), l.ints({0, -1}), l.unknown()}); },
       "Indices in TensorListScatter must all be non-negative."},
      {[](Lists& l) { return l.list("TensorListScatter", {l.floats({2}), l.ints({0}), l.unknown()}); },
       "Invalid number of rows in input tensor. Expected: 1 Actual: 2"},
      {[](Lists& l) { return l.list("TensorListScatterV2", {l.floats({1}), l.ints({2}), l.unknown(), l.number(2)}); },
       "TensorListScatter: Trying to scatter at index 2 in list with size 2"},
      {[](Lists& l) { return l.list("TensorListScatterV2", {l.floats({1}), l.ints({0}), l.unknown(), l.number(-2)}); },
       "TensorListScatter expects num_elements >= -1, found: -2"},
      {[](Lists& l) { return l.list("TensorListScatterIntoExistingList", {l.rows({2}), l.floats({1}), l.ints({-1})}); },
       "must all be non-negative"},
      {[](Lists& l) { return l.list("TensorListScatterIntoExistingList", {l.rows({2}), l.floats({2}), l.ints({0})}); },
       "Expected len(indices) == tensor.shape[0], but saw: 1 vs. 2"},
      {[](Lists& l) { return l.list("TensorListScatterIntoExistingList", {l.rows({2}), l.floats({1}), l.number(0)}); },
       "Expected indices to be a vector, but received shape: []"},
      {[](Lists& l) { return l.list("TensorListSplit", {l.floats({4}), l.unknown(), l.longs({1, -1})}); },
       "Invalid value in lengths: -1"},
      {[](Lists& l) { return l.list("TensorListSplit", {l.floats({4}), l.unknown(), l.longs({1, 4})}); },
       "Attempting to slice [1, 5] from tensor with length 4"},
      {[](Lists& l) { return l.list("TensorListSplit", {l.floats({4}), l.unknown(), l.longs({1, INT64_MAX})}); },
       "Attempting to slice [1, "},
      {[](Lists& l) { return l.list("TensorListSplit", {l.floats({4}), l.unknown(), l.longs({1})}); },
       "Unused values in tensor. Length of tensor: 4 Values used: 1"},
  };
  check(cases);
}

TEST(ListNodes, RefuseMoreElementsThanTheBound) {
  const std::string bound = "at most 16777216";
  const Refused cases[] = {
      {[](Lists& l) { return l.reserved(INT32_MAX, l.unknown()); }, bound},
      {[](Lists& l) { return l.list("TensorListResize", {l.rows({1}), l.number((1 << 24) + 1)}); }, bound},
      {[](Lists& l) { return l.set(l.rows({1}), 1 << 24, l.floats({}), true); }, bound},
      {[](Lists& l) { return l.list("TensorListScatter", {l.floats({1}), l.ints({INT32_MAX}), l.unknown()}); }, bound},
      {[](Lists& l) {
         return l.list("TensorListScatterIntoExistingList", {l.rows({2}), l.floats({1}), l.ints({INT32_MAX})});
       },
       bound},
  };
  check(cases);
}

TEST(ListNodes, RefuseOtherTypes) {
  const Refused cases[] = {
      {[](Lists& l) { return l.tensor("TensorListGetItem", {l.rows({2}), l.number(0), l.unknown()}, 1, kInts); },
       "Invalid data types; op elements int32 but list elements float"},
      {[](Lists& l) { return l.tensor("TensorListStack", {l.rows({2}), l.unknown()}, 1, kInts); },
       "Invalid data types; op elements int32 but list elements float"},
      {[](Lists& l) { return l.set(l.reserved(1, l.unknown()), 0, l.number(1)); },
       "Invalid data types; op elements int32 but list elements float"},
      {[](Lists& l) { return l.list("TensorListScatterIntoExistingList", {l.rows({2}), l.ints({1}), l.ints({0})}); },
       "Invalid data types; input tensor type: int32 list element_type: float"},
      {[](Lists& l) {
         const Edge ints = l.list("EmptyTensorList", {l.unknown(), l.number(-1)}, kInts);
         return l.list("TensorListConcatLists", {l.rows({2}), ints});
       },
       "input_b[0].dtype != element_dtype.  Saw: int32 vs. float"},
      {[](Lists& l) { return l.list("TensorListConcatLists", {l.rows({2}), l.rows({2}, l.scalar())}); },
       "input_a and input_b TensorList element shapes are not identical at index 0.  Saw <unknown> vs. []"},
  };
  check(cases);
}

}  // namespace
}  // namespace npu::graph
