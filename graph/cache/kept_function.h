// SPDX-License-Identifier: Apache-2.0
// What is kept of a function: all that compiling it gave, as bytes of a container (graph/model/container.h).
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/ir/function.h"
#include "graph/passes/pass.h"

namespace npu::graph::cache {

struct KeptFunction {
  std::shared_ptr<Function> function;           ///< after the passes
  std::vector<std::shared_ptr<Function>> made;  ///< functions that passes made of others, which it calls
  std::vector<PassReport> passes;
};

/// `key` goes with it, so that a file under another's name is found out.
std::string to_bytes(const KeptFunction& kept, std::string_view key);
/// The key that went with it. Raises 100006 for what is damaged.
std::string key_of_bytes(std::span<const std::byte> bytes);
/// Raises 100006 with what is wrong: damaged, of another version, of another key.
KeptFunction from_bytes(std::span<const std::byte> bytes, std::string_view key, const Dialect& dialect);

}  // namespace npu::graph::cache
