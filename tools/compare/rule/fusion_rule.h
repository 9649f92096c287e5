// SPDX-License-Identifier: Apache-2.0
// Which operators of the client's model an executed operator stands for: read from a dumped graph, or from the fusion
// file that is made of one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "graph/dump/record/dump_data.h"

namespace npu::compare {

/// An output as the client's model had it.
struct OriginOutput {
  std::string name;             ///< of the operator; empty for none
  std::optional<size_t> index;  ///< nothing: the same as here
  std::string format;
  graph::record::Shape shape;
  std::string data_type;
};

struct RuleOp {
  std::string name, type;
  std::vector<std::string> inputs;  ///< "operator:output", without control edges
  std::vector<OriginOutput> outputs;
  std::vector<std::string> originals;  ///< operators of the client's model that were fused into it
  std::string l1_group;
  bool multiple = false;   ///< one of several that stand for several
  bool quantised = false;  ///< between a quantisation and its inverse: not compared
  int64_t sequence = 0;
  size_t group = 0;

  /// One of many-to-many whose outputs are none of the client's.
  bool is_inner() const;
};

class FusionRule {
 public:
  /// Raises a Refusal for a file that is neither.
  explicit FusionRule(const std::string& path);

  /// Operators that stand for the same ones together, in the order of the file.
  const std::vector<std::vector<size_t>>& groups() const { return groups_; }
  const RuleOp& op(size_t index) const { return ops_[index]; }
  /// By the graph's `id`.
  const std::vector<size_t>& by_sequence() const { return by_sequence_; }
  /// Raises a Refusal for a name that is not there.
  const RuleOp& find(const std::string& name) const;
  /// Operators of type Data.
  const std::vector<std::string>& input_nodes() const { return input_nodes_; }

  /// Takes originals of this graph, compiled with fusion, for the operators of `closed`, compiled without.
  void rename_originals(const FusionRule& closed);

 private:
  void add(const Json& op);
  void name_origins();
  void mark_quantised();

  std::vector<RuleOp> ops_;
  std::vector<size_t> by_sequence_;
  std::map<std::string, size_t> by_name_;
  std::map<std::string, size_t> group_of_;
  std::vector<std::vector<size_t>> groups_;
  std::vector<std::string> input_nodes_;
};

}  // namespace npu::compare
