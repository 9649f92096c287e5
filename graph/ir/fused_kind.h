// SPDX-License-Identifier: Apache-2.0
// The operators of nodes that fusion passes make. What such a node computes is in Node::parts.
#pragma once

#include <string_view>

namespace npu::graph::kind {

/// Element-wise nodes in one pass over their elements.
inline constexpr std::string_view kElementwise = "_FusedElementwise";
/// The same with updates of variables in place: the step of an optimizer on all its variables.
inline constexpr std::string_view kVariableUpdate = "_FusedVariableUpdate";

// Inputs and outputs of the following are told by attributes, which hold positions; absent ones take no part.

/// y = (x - mean) / sqrt(variance + epsilon) * gamma + beta along rows. Inputs x, rows (the shape [1, count, length, 1]
/// in which x is normalised), shape (of the result), gamma, beta.
inline constexpr std::string_view kLayerNorm = "_FusedLayerNorm";
/// Its gradients. Inputs dy, x, rows, gamma, axes (along which dgamma and dbeta are summed); outputs dx (in the shape
/// `rows`), dgamma and dbeta, with axes of one element where dgamma_keeps and dbeta_keeps say so.
inline constexpr std::string_view kLayerNormGrad = "_FusedLayerNormGrad";

/// softmax(Q K^T * factor + bias) V, or / factor where the attribute divides says so. Inputs q, k, v, factor, bias.
/// q_axes, k_axes, v_axes and out_axes name axes: B, N (heads), S (queries), T (keys), D (depth), E (depth of values),
/// '*' for B and N as far as there are any. Outputs out and, where a gradient wants them, maximum and sum of the rows
/// of scores, [B, N, S, 8].
inline constexpr std::string_view kAttention = "_FusedAttention";
/// Its gradient. Inputs those, dy and what the forward gave; outputs dq, dk and dv.
inline constexpr std::string_view kAttentionGrad = "_FusedAttentionGrad";

/// A product or convolution with the element-wise node that takes up its result.
inline constexpr std::string_view kProduct = "_FusedProduct";

}  // namespace npu::graph::kind
