// SPDX-License-Identifier: Apache-2.0
#include "graph/ir/kind.h"

#include <algorithm>
#include <iterator>

namespace npu::graph {
namespace {

/// What passes ask of many kinds at once.
enum class Family : uint8_t { kNone, kProduct, kConvolution, kView, kFloatStatus };

struct Row {
  Kind kind;
  std::string_view name;
  Family family = Family::kNone;
};

constexpr Row kRows[] = {
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
};

constexpr bool in_order() {
  for (size_t i = 0; i < std::size(kRows); ++i)
    if (static_cast<size_t>(kRows[i].kind) != i) return false;
  return std::size(kRows) == static_cast<size_t>(Kind::kCount);
}
static_assert(in_order(), "kRows has a row for each kind, in the order of the enum");

const Row& row_of(Kind kind) { return kRows[static_cast<size_t>(kind)]; }

}  // namespace

std::string_view name_of(Kind kind) { return row_of(kind).name; }

Kind kind_named(std::string_view name) {
  const auto* at = std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& row) { return row.name == name; });
  return at == std::end(kRows) ? Kind::kOpaque : at->kind;
}

std::string_view to_string(const NodeType& type) { return type.kind == Kind::kOpaque ? type.op : name_of(type.kind); }

bool is_product(Kind kind) { return row_of(kind).family == Family::kProduct; }

bool is_convolution(Kind kind) { return row_of(kind).family == Family::kConvolution; }

bool is_view(Kind kind) { return row_of(kind).family == Family::kView; }

bool is_float_status(Kind kind) { return row_of(kind).family == Family::kFloatStatus; }

}  // namespace npu::graph
