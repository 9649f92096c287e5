// SPDX-License-Identifier: Apache-2.0
// For which module of the client's a task ran. Outside of graphs it is the one that the thread worked for when it asked
// for the task (device/trace/module.h); a node of a graph says it by its name, model/layer/operator.
#pragma once

#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "device/trace/module.h"
#include "tools/profile/trace/folder.h"

namespace npu::profile {

using device::trace::Phase;

struct Owner {
  enum class Kind : uint8_t {
    kModule,      ///< `text` is its path
    kNode,        ///< `text` is the name of a graph's node
    kCollective,  ///< all ranks'
    kOutside,     ///< the script itself: losses, data, what is between modules
    kUnknown,     ///< asked for by a thread of which nothing is known
  };
  Kind kind = Kind::kUnknown;
  Phase phase = Phase::kForward;
  uint32_t text = 0;
  bool operator==(const Owner&) const = default;
};

/// Between words, as the client's framework writes it.
inline const char* separator_of(const Owner& owner) { return owner.kind == Owner::Kind::kNode ? "/" : "."; }

class Owners {
 public:
  Owners() = default;
  explicit Owners(const Trace& trace);

  Owner of(const TaskRecord& task) const;
  /// Of what `thread` does at `time`.
  Owner of(uint32_t thread, int64_t time) const;

  /// The place in the tree of modules, from the outermost: "model", "layers", "3". What is no module has one word of
  /// its own, in brackets.
  std::vector<std::string> words_of(const Owner& owner) const;
  /// In one, as the client writes it: model.layers.3, model/dense.
  std::string path_of(const Owner& owner) const;

 private:
  std::vector<std::string> words_of_node(std::string_view name) const;

  const Trace* trace_ = nullptr;
  std::unordered_map<uint32_t, std::vector<const MarkRecord*>> threads_;
  std::set<std::vector<std::string>> scopes_;  ///< of nodes that are of no gradient, and those around them
};

}  // namespace npu::profile
