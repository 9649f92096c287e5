// SPDX-License-Identifier: Apache-2.0
// The operators of nodes that passes about loops make.
#pragma once

#include <cstdint>
#include <string_view>

namespace npu::graph {

namespace kind {

/// In the body of a loop, an element of a list times a matrix that stays: many elements are multiplied at once, and
/// what later turns will ask for is kept in a variable of the loop. Inputs: element, matrix, list, index, what is kept;
/// where attribute bias says so, what is added to each row; then, where there is an attribute second_turned, two
/// matrices whose product is added. Attributes turned and second_turned: the matrix on the right is turned.
inline constexpr std::string_view kItemProduct = "_FusedItemProduct";
/// Where a kItemProduct keeps its products: nothing yet.
inline constexpr std::string_view kKeptProducts = "_FusedKeptProducts";
/// In the body of a loop, a variable to which every turn adds products: their operands are put by in another variable,
/// and many are added at once. Inputs: the sum, what was put by, the operands; outputs: the first two. Attribute terms:
/// for each product, which of its operands are turned, or that the rows of one operand are added.
inline constexpr std::string_view kLoopSum = "_FusedLoopSum";
/// What was put by before the first turn: nothing.
inline constexpr std::string_view kLoopSumStart = "_FusedLoopSumStart";
/// After the loop: the sum, with what was put by.
inline constexpr std::string_view kLoopSumEnd = "_FusedLoopSumEnd";

}  // namespace kind

/// Members of kLoopSum's attribute terms.
inline constexpr int64_t kTurnedLeft = 1, kTurnedRight = 2, kAddedRows = 4;

}  // namespace npu::graph
