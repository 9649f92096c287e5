// SPDX-License-Identifier: Apache-2.0
// What decides in which dtype the nodes of a graph compute: a mode, lists of operators, and rules for single nodes. All
// of it comes as the values of the vendor's options, by their names.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "graph/ir/function.h"
#include "graph/precision/list.h"
#include "graph/precision/policy_file.h"

namespace npu::graph {

enum class PrecisionPolicy : uint8_t {
  kOrigin,  ///< every node as the graph says; no rule acts
  kForce,   ///< reduced wherever there is a reduced form
  kCube,    ///< cube operators reduced, vector operators as they are
  kRaise,   ///< cube operators take reduced inputs and give float32; float16 vector operators are raised to float32
  kMixed,   ///< by the lists
};

struct PrecisionMode {
  std::string name = "must_keep_origin_dtype";
  PrecisionPolicy policy = PrecisionPolicy::kOrigin;
  DType reduced = DType::kHalf;
};

/// The mode of this word of precision_mode or precision_mode_v2; "" is the default of the SoC in force. Raises 161002.
PrecisionMode find_mode(std::string_view word);
/// What a mode makes of an operator of a float32 graph, in words: "float16", "float16 in, float32 out", "as what comes
/// before it". Options for single nodes, and what choice.h tells of constants and variables, come on top.
std::string effect_of(const PrecisionMode& mode, const OperatorPrecision& op);

/// A line of customize_dtypes: kUndefined, and what lies beyond the end, is not chosen.
struct DTypeRule {
  std::string named;  ///< the node, or the operator
  int64_t line = 0;
  std::vector<DType> inputs, outputs;
};

/// A line of op_precision_mode.
struct ImplementationRule {
  std::string named, value;
  int64_t line = 0;
};

class Precision {
 public:
  /// Takes the value of an option: precision_mode, precision_mode_v2 (one of their words; precision_mode "" is the
  /// default of the SoC in force), modify_mixlist, customize_dtypes, op_precision_mode, keep_dtype (the text of such a
  /// file; the last is as keep). Gives sentences about what in it has no effect. Raises 161002, for files with line and
  /// column, and changes nothing then.
  std::vector<std::string> set(std::string_view option, std::string_view value);

  /// The nodes that the lines of `names` name compute in the dtype that the graph says, whatever was set.
  void keep(std::string_view names);
  bool keeps(const Node& node) const { return kept_.contains(node.name); }

  const PrecisionMode& mode() const { return mode_; }
  /// All that was set and kept, in order: equal texts, equal choices, on one SoC.
  const std::string& said() const { return said_; }
  /// True when nothing was asked for: nodes stay as they are, and nobody wants to be told why.
  bool idle() const { return mode_.policy == PrecisionPolicy::kOrigin && !asked_; }
  /// The list of an operator after modify_mixlist and edited files of operator information; `by` says which of them put
  /// it there, if any.
  List list_of(const OperatorPrecision& op, std::string_view& by) const;
  /// The rule of customize_dtypes that names the node, else one that names its operator, else null.
  const DTypeRule* dtype_rule(const Node& node, bool& by_name) const;
  /// The same of op_precision_mode.
  const ImplementationRule* implementation_rule(const Node& node) const;

 private:
  std::vector<std::string> read_mixlist(std::string_view text);
  std::vector<std::string> read_dtypes(std::string_view text);
  std::vector<std::string> read_implementations(std::string_view text);

  void note(std::string_view option, std::string_view value);
  void take_edits();

  PrecisionMode mode_;
  std::string said_;
  bool asked_ = false;
  std::set<std::string, std::less<>> kept_;
  std::optional<EditedLists> edited_;       ///< once lists count
  std::map<std::string_view, List> moved_;  ///< by modify_mixlist; by operator of TensorFlow
  std::vector<DTypeRule> node_dtypes_, operator_dtypes_;
  std::vector<ImplementationRule> node_implementations_, operator_implementations_;
};

}  // namespace npu::graph
