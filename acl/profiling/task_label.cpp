// SPDX-License-Identifier: Apache-2.0
#include "acl/profiling/task_label.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "acl/profiling/call_type.h"
#include "ops/runner/observer.h"

namespace npu::acl {
namespace {

using device::trace::Unit;

/// What the chip computes in its cube unit, or there and in its vector unit: by the operator's family, or, of a graph's
/// node, which tells none, by what the name of its type contains.
constexpr std::array<std::string_view, 2> kCubeFamilies{"matmul", "conv"};
constexpr std::array<std::string_view, 6> kCubeTypes{"MatMul", "Product",       "Conv2D",
                                                     "Conv3D", "DepthwiseConv", "Convolution"};
constexpr std::array<std::string_view, 3> kMixedTypes{"Attention", "RNN", "GRU"};

/// "aclnnInplaceAdd" is the operator Add.
std::string_view without_prefix(std::string_view name) {
  for (const std::string_view prefix : {"aclnn", "Inplace"})
    if (name.size() > prefix.size() && name.starts_with(prefix) &&
        std::isupper(static_cast<unsigned char>(name[prefix.size()])))
      name.remove_prefix(prefix.size());
  return name;
}

/// What the vendor's tables, and those who read them, call the products and convolutions of aclnn functions, where a
/// tensor has more dimensions than `rank` and where it has not.
struct Product {
  std::string_view op;
  size_t rank;
  std::string_view above, below;
};
constexpr std::array kProducts{Product{"addmm", 9, "", "MatMulV2"},
                               Product{"mm", 9, "", "MatMulV2"},
                               Product{"mv", 9, "", "MatMulV2"},
                               Product{"addmv", 9, "", "MatMulV2"},
                               Product{"matmul", 2, "BatchMatMulV2", "MatMulV2"},
                               Product{"batch_matmul", 9, "", "BatchMatMulV2"},
                               Product{"baddbmm", 9, "", "BatchMatMulV2"},
                               Product{"convolution", 4, "Conv3D", "Conv2D"},
                               Product{"depthwise_convolution", 9, "", "DepthwiseConv2D"}};

/// What the vendor's tables call a node that a pass has made of several; what they know nothing like keeps its own
/// name.
std::string_view type_of_fused(std::string_view type) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kKnown{
      {{"_FusedProduct", "MatMulV2"},
       {"_FusedKeptProducts", "MatMulV2"},
       {"_FusedItemProduct", "BatchMatMulV2"},
       {"_FusedAttention", "FlashAttentionScore"},
       {"_FusedAttentionGrad", "FlashAttentionScoreGrad"},
       {"_FusedLayerNorm", "LayerNorm"},
       {"_FusedLayerNormGrad", "LayerNormGrad"}}};
  for (const auto& [ours, vendors] : kKnown)
    if (ours == type) return vendors;
  return type.substr(1);
}

std::string upper(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return out;
}

}  // namespace

Unit unit_of(std::string_view type, const ops::Operator* op) {
  const auto in_type = [&](std::string_view part) { return type.find(part) != std::string_view::npos; };
  if (ops::is_collective(type)) return Unit::kCollective;
  if (std::ranges::any_of(kMixedTypes, in_type)) return Unit::kMixed;
  const bool cube = op != nullptr ? std::ranges::count(kCubeFamilies, op->def->family) != 0
                                  : std::ranges::any_of(kCubeTypes, in_type);
  return cube ? Unit::kCube : Unit::kVector;
}

std::string_view type_of(std::string_view name, const ops::Operator* op, size_t rank, bool casts) {
  if (name.starts_with('_')) return type_of_fused(name);
  const std::string_view own = without_prefix(name);
  if (op == nullptr || own.size() == name.size()) return own;
  const auto* const product = std::ranges::find(kProducts, op->def->name, &Product::op);
  // The vendor has one operator for another type of elements, and one for the same.
  if (product == kProducts.end()) return own != "Copy" ? type_of_call(own) : casts ? "Cast" : "ViewCopy";
  return rank > product->rank ? product->above : product->below;
}

void Shapes::add(DType dtype, std::span<const uint64_t> shape) {
  const std::string_view between = formats_.empty() ? "" : ";";
  const std::string_view type = name_of(dtype);
  shapes_ += fmt::format("{}{}", between, fmt::join(shape, ","));
  types_ += between;
  types_ += type == "bfloat16" ? "DT_BF16" : type == "float32" ? "FLOAT" : upper(type);
  formats_ += between;
  formats_ += "ND";
}

}  // namespace npu::acl
