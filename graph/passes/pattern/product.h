// SPDX-License-Identifier: Apache-2.0
// Products of two tensors as letters: what passes ask of kEinsum and kBatchProduct alike.
#pragma once

#include <optional>
#include <string>

#include "graph/ir/function.h"

namespace npu::graph {

/// out[out_axes] = sum of a[a_axes] · b[b_axes]. An axis is a letter; a product of matrices has '*' for all batch axes.
struct Product {
  NodeId node = -1;
  Edge a, b;
  std::string a_axes = {}, b_axes = {}, out_axes = {};
};

/// The node as a product of two; none when it is something else, or has an equation with an ellipsis, with a letter
/// that stands twice in one place or with a sum over what only one operand has.
std::optional<Product> as_product(const Function& f, NodeId id);

/// The same with the operands in this order: `a` first. None when `a` is no operand, or both.
std::optional<Product> with_first(std::optional<Product> product, Edge a);

/// Gives axes names of their own: those of `known` (a's, b's or out's axes, chosen by `of`) become `names`, letter by
/// letter, and the one letter left becomes `rest`. None when it does not come out so.
std::optional<Product> renamed(std::optional<Product> product, std::string Product::*of, const std::string& names,
                               char rest);

}  // namespace npu::graph
