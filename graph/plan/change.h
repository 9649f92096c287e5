// SPDX-License-Identifier: Apache-2.0
// What a plan was made for, in words, so that it can be told why another one is needed.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "graph/ir/function.h"
#include "graph/plan/argument_traits.h"

namespace npu::graph {

/// One text an argument: "float32[32, 10]", "int32[1][3]" where plans are made for the value, "resource float32[4]" for
/// a variable.
std::vector<std::string> described(std::span<const ArgumentTraits> traits);
/// The same without elements: types and shapes.
std::vector<std::string> shapes_described(std::span<const ArgumentTraits> traits);
/// "argument x was float32[32, 10] and is float32[17, 10]", of the first that differs and how many more do.
std::string change_between(const Function& function, const std::vector<std::string>& before,
                           const std::vector<std::string>& now);

}  // namespace npu::graph
