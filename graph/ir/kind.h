// SPDX-License-Identifier: Apache-2.0
// The engine's own words for what nodes compute: what passes, the planner and reports ask for. A client's operator that
// none of them asks for stays opaque and is known by the client's name alone. Importers translate (dialect.h).
//
// Each line tells inputs -> outputs; attributes have these names in every client's graphs.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace npu::graph {

enum class Kind : uint8_t {
  kOpaque,  ///< the client's own, looked up by Node::op

  // What functions are made of.
  kArgument,  ///< -> an argument of the function; index
  kConstant,  ///< -> value, a Literal
  kIdentity,  ///< x -> x

  // Element by element; the result has the broadcast shape.
  kAdd,       ///< x, y -> x + y
  kSubtract,  ///< x, y -> x - y
  kMultiply,  ///< x, y -> x · y
  kDivide,    ///< x, y -> x / y, of floats
  kAddList,   ///< any number of one shape -> their sum
  kCast,      ///< x -> x as DstT; SrcT, Truncate

  // Products.
  kProduct,           ///< a, b -> a · b, of matrices; transpose_a, transpose_b
  kBatchProduct,      ///< x, y -> x · y of the last two axes, of one type; adj_x, adj_y
  kWideBatchProduct,  ///< the same, where types may differ: Ta, Tb, Tout
  kEinsum,            ///< one or two -> their sum of products; equation
  // Convolutions over 2 or 3 axes; strides, dilations, padding, explicit_paddings, data_format.
  kConvolution,                    ///< images, filter, maybe bias -> images; filter_format "OIHW": [out, in, kernel…]
  kConvolutionInputGrad,           ///< sizes, filter, dy -> dx
  kConvolutionFilterGrad,          ///< x, sizes, dy -> dfilter
  kDepthwiseConvolution,           ///< as kConvolution, each channel for itself
  kDepthwiseConvolutionInputGrad,  ///< as kConvolutionInputGrad
  kDepthwiseConvolutionFilterGrad,  ///< as kConvolutionFilterGrad

  // Shapes.
  kReshape,                ///< x, shape -> x; zero_copies: a size of 0 is that of x
  kExpandDims,             ///< x, axis -> x
  kSqueeze,                ///< x -> x; squeeze_dims
  kShape,                  ///< x -> its shape
  kFill,                   ///< shape, value -> value everywhere
  kBroadcastGradientArgs,  ///< two shapes -> the axes along which the gradient of each is summed

  // Along axes.
  kSum,            ///< x, axes -> sum; keep_dims
  kSoftmax,        ///< x -> along the last axis
  kBias,           ///< x, bias -> x + bias along the channels; data_format
  kBiasGrad,       ///< dy -> dbias; data_format
  kBatchNorm,      ///< x, scale, offset, mean, variance -> y, statistics …; epsilon, is_training, data_format
  kBatchNormGrad,  ///< dy, x, scale, statistics … -> dx, dscale, doffset, …; as kBatchNorm

  // Variables, of which the first input is the handle.
  kRead,            ///< v -> its value
  kAssign,          ///< v, x: v = x
  kAssignAdd,       ///< v, x: v += x
  kAssignSubtract,  ///< v, x: v -= x

  kListItem,  ///< list, index, element shape -> element

  // What runs functions of the program in its place, see control_flow.h.
  kCall,   ///< what f takes -> what it gives
  kWhile,  ///< variables -> variables; body, cond
  kIf,     ///< predicate, what the branches take -> what they give; then_branch, else_branch
  kCase,   ///< index, what the branches take -> what they give; branches

  // The device's overflow word. In its first edition the words go from node to node.
  kAllocateFloatStatus,  ///< -> words
  kGetFloatStatus,       ///< words -> words
  kClearFloatStatus,     ///< words -> words
  kReadFloatStatus,      ///< -> words
  kResetFloatStatus,     ///< nothing -> nothing

  // What fusion passes make: what such a node computes is in Node::parts.

  kElementwise,     ///< element-wise nodes in one pass over their elements
  kVariableUpdate,  ///< with updates of variables in place: the step of an optimizer on all its variables
  // Inputs and outputs of these are told by attributes, which hold positions; absent ones take no part.
  /// y = (x - mean) / sqrt(variance + epsilon) * gamma + beta along rows. Inputs x, gamma, beta, and what tells the
  /// rows: rows (the shape [1, count, length, 1] in which x is normalised) and shape (of the result), or axes, the last
  /// ones of x.
  kLayerNorm,
  /// Its gradients. Inputs dy, x, rows, gamma, axes (along which dgamma and dbeta are summed); outputs dx (in the shape
  /// `rows`), dgamma and dbeta, with axes of one element where dgamma_keeps and dbeta_keeps say so.
  kLayerNormGrad,
  /// softmax(Q K^T * factor + bias) V, or / factor where the attribute divides says so. Inputs q, k, v, factor, bias.
  /// q_axes, k_axes, v_axes and out_axes name axes: B, N (heads), S (queries), T (keys), D (depth), E (depth of
  /// values), '*' for B and N as far as there are any. Outputs out and, where a gradient wants them, maximum and sum of
  /// the rows of scores, [B, N, S, 8].
  kAttention,
  /// Its gradient. Inputs those, dy and what the forward gave; outputs dq, dk and dv.
  kAttentionGrad,
  /// A product or convolution with the element-wise node that takes up its result.
  kFusedProduct,

  // What passes about loops make.

  /// In the body of a loop, an element of a list times a matrix that stays: many elements are multiplied at once, and
  /// what later turns will ask for is kept in a variable of the loop. Inputs: element, matrix, list, index, what is
  /// kept; where attribute bias says so, what is added to each row; then, where there is an attribute second_turned,
  /// two matrices whose product is added. Attributes turned and second_turned: the matrix on the right is turned.
  kItemProduct,
  kKeptProducts,  ///< -> where a kItemProduct keeps its products: nothing yet
  /// In the body of a loop, a variable to which every turn adds products: their operands are put by in another
  /// variable, and many are added at once. Inputs: the sum, what was put by, the operands; outputs: the first two.
  /// Attribute terms: for each product, which of its operands are turned, or that the rows of one operand are added.
  kLoopSum,
  kLoopSumStart,  ///< -> what was put by before the first turn: nothing
  kLoopSumEnd,    ///< after the loop: the sum, what was put by -> all of it

  // What layer normalisation is written with where nobody has a node for it.
  kPower,   ///< x, y -> x ^ y
  kSquare,  ///< x -> x · x
  kRoot,    ///< x -> its square root
  kMean,    ///< x, axes -> mean; keep_dims

  // What meets the same node of the other ranks of a group; group, fusion, fusion_id. The first three take any number
  // of tensors, which go together, and give as many.
  kAllReduce,      ///< x of all ranks, reduced; reduction
  kRankReduce,     ///< the same on one rank, x itself on others; reduction, root_rank
  kRankBroadcast,  ///< x of one rank; root_rank
  kAllGather,      ///< x of all ranks along the first axis; rank_size
  kReduceScatter,  ///< x of all ranks, reduced, a part for each; reduction, rank_size

  kCount,  ///< how many kinds there are
};

/// Members of kLoopSum's attribute terms.
inline constexpr int64_t kTurnedLeft = 1, kTurnedRight = 2, kAddedRows = 4;

/// What passes ask of many kinds at once.
enum class Family : uint8_t {
  kNone,
  kProduct,      ///< products of matrices
  kConvolution,  ///< convolutions and gradients that give images
  kView,         ///< gives the elements of its first input in the same order
  kFloatStatus,  ///< looks at the device's overflow word, or clears it
  kCollective,   ///< meets the same node of other ranks
};

/// A kind, its name in tables of spellings, and its family.
struct KindRow {
  Kind kind;
  std::string_view name;
  Family family = Family::kNone;
};

inline constexpr KindRow kKinds[] = {
    {Kind::kOpaque, "opaque"},
    {Kind::kArgument, "argument"},
    {Kind::kConstant, "constant"},
    {Kind::kIdentity, "identity", Family::kView},
    {Kind::kAdd, "add"},
    {Kind::kSubtract, "subtract"},
    {Kind::kMultiply, "multiply"},
    {Kind::kDivide, "divide"},
    {Kind::kAddList, "add_list"},
    {Kind::kCast, "cast"},
    {Kind::kProduct, "product", Family::kProduct},
    {Kind::kBatchProduct, "batch_product", Family::kProduct},
    {Kind::kWideBatchProduct, "wide_batch_product", Family::kProduct},
    {Kind::kEinsum, "einsum", Family::kProduct},
    {Kind::kConvolution, "convolution", Family::kConvolution},
    {Kind::kConvolutionInputGrad, "convolution_input_grad", Family::kConvolution},
    {Kind::kConvolutionFilterGrad, "convolution_filter_grad"},
    {Kind::kDepthwiseConvolution, "depthwise_convolution", Family::kConvolution},
    {Kind::kDepthwiseConvolutionInputGrad, "depthwise_convolution_input_grad", Family::kConvolution},
    {Kind::kDepthwiseConvolutionFilterGrad, "depthwise_convolution_filter_grad"},
    {Kind::kReshape, "reshape", Family::kView},
    {Kind::kExpandDims, "expand_dims", Family::kView},
    {Kind::kSqueeze, "squeeze", Family::kView},
    {Kind::kShape, "shape"},
    {Kind::kFill, "fill"},
    {Kind::kBroadcastGradientArgs, "broadcast_gradient_args"},
    {Kind::kSum, "sum"},
    {Kind::kSoftmax, "softmax"},
    {Kind::kBias, "bias"},
    {Kind::kBiasGrad, "bias_grad"},
    {Kind::kBatchNorm, "batch_norm"},
    {Kind::kBatchNormGrad, "batch_norm_grad"},
    {Kind::kRead, "read"},
    {Kind::kAssign, "assign"},
    {Kind::kAssignAdd, "assign_add"},
    {Kind::kAssignSubtract, "assign_subtract"},
    {Kind::kListItem, "list_item"},
    {Kind::kCall, "call"},
    {Kind::kWhile, "while"},
    {Kind::kIf, "if"},
    {Kind::kCase, "case"},
    {Kind::kAllocateFloatStatus, "allocate_float_status", Family::kFloatStatus},
    {Kind::kGetFloatStatus, "get_float_status", Family::kFloatStatus},
    {Kind::kClearFloatStatus, "clear_float_status", Family::kFloatStatus},
    {Kind::kReadFloatStatus, "read_float_status", Family::kFloatStatus},
    {Kind::kResetFloatStatus, "reset_float_status", Family::kFloatStatus},
    {Kind::kElementwise, "elementwise"},
    {Kind::kVariableUpdate, "variable_update"},
    {Kind::kLayerNorm, "layer_norm"},
    {Kind::kLayerNormGrad, "layer_norm_grad"},
    {Kind::kAttention, "attention"},
    {Kind::kAttentionGrad, "attention_grad"},
    {Kind::kFusedProduct, "fused_product"},
    {Kind::kItemProduct, "item_product"},
    {Kind::kKeptProducts, "kept_products"},
    {Kind::kLoopSum, "loop_sum"},
    {Kind::kLoopSumStart, "loop_sum_start"},
    {Kind::kLoopSumEnd, "loop_sum_end"},
    {Kind::kPower, "power"},
    {Kind::kSquare, "square"},
    {Kind::kRoot, "root"},
    {Kind::kMean, "mean"},
    {Kind::kAllReduce, "all_reduce", Family::kCollective},
    {Kind::kRankReduce, "rank_reduce", Family::kCollective},
    {Kind::kRankBroadcast, "rank_broadcast", Family::kCollective},
    {Kind::kAllGather, "all_gather", Family::kCollective},
    {Kind::kReduceScatter, "reduce_scatter", Family::kCollective},
};

/// The name of a kind: "add", "batch_product".
constexpr std::string_view name_of(Kind kind) { return kKinds[static_cast<size_t>(kind)].name; }
/// The kind of this name; kOpaque for a name that no kind has.
Kind kind_named(std::string_view name);

constexpr bool is_family(Kind kind, Family family) { return kKinds[static_cast<size_t>(kind)].family == family; }
constexpr bool is_product(Kind kind) { return is_family(kind, Family::kProduct); }
constexpr bool is_convolution(Kind kind) { return is_family(kind, Family::kConvolution); }
constexpr bool is_view(Kind kind) { return is_family(kind, Family::kView); }
constexpr bool is_collective(Kind kind) { return is_family(kind, Family::kCollective); }
constexpr bool is_float_status(Kind kind) { return is_family(kind, Family::kFloatStatus); }

/// What the meaning of a node is registered under: its kind, or the client's name of an opaque operator.
struct NodeType {
  NodeType(Kind of) : kind(of) {}                    // NOLINT: either is one
  NodeType(std::string_view opaque) : op(opaque) {}  // NOLINT
  NodeType(const char* opaque) : op(opaque) {}       // NOLINT
  auto operator<=>(const NodeType&) const = default;

  Kind kind = Kind::kOpaque;
  std::string_view op = {};
};

/// The name of the kind or operator.
std::string_view to_string(const NodeType& type);

}  // namespace npu::graph
