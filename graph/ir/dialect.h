// SPDX-License-Identifier: Apache-2.0
// How one client spells the kinds of node: which of its operators are which kind, and what a node that a pass makes is
// called where the client or its user sees it. Its importer has the table.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/ir/attribute.h"
#include "graph/ir/kind.h"

namespace npu::graph {

/// In front of the name of an opaque node's operator: the program wants it run by the client, whatever we have for it.
/// No client's operator has this sign in its name.
inline constexpr std::string_view kOnHost = "host:";

class Dialect {
 public:
  struct Row {
    std::string_view kind, spellings;  ///< separated by blanks; the first is the one that is written
  };
  using Encode = std::string (*)(const Attribute&);

  /// Raises 500000 for a row of no kind, or a kind or spelling that stands twice.
  Dialect(std::span<const Row> rows, Encode encode);

  /// kOpaque for a name that is none of the spellings.
  Kind kind_of(std::string_view op) const;
  /// The client's operators of this kind, the one that is written first; none where the client has no word for it.
  const std::vector<std::string_view>& spellings(Kind kind) const { return spellings_[static_cast<size_t>(kind)]; }
  /// The one that is written. Raises 500000 where there is none.
  std::string spelling(Kind kind) const;
  /// What Attributes::set takes as the client's encoding of a value that a pass sets.
  std::string encoded(const Attribute& value) const { return encode_(value); }

 private:
  std::vector<std::vector<std::string_view>> spellings_;  ///< by kind
  std::map<std::string_view, Kind> kinds_;
  Encode encode_;
};

}  // namespace npu::graph
