// SPDX-License-Identifier: Apache-2.0
// A pass rewrites one function. They stand in order in pipeline.h; the runner times each and verifies after it.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "graph/ir/function.h"
#include "graph/precision/precision.h"

namespace npu::graph {

struct PassOptions;
struct PassReport;

/// What a fusion pass found in a function.
struct FusionCount {
  int64_t matched = 0;                           ///< places that look like what it is for
  int64_t effective = 0;                         ///< of them, those it rewrote
  std::map<std::string, int64_t> declined = {};  ///< why it left the others, and how often
  void decline(const std::string& reason) { ++matched, ++declined[reason]; }
  void take() { ++matched, ++effective; }
};

/// Which list of the vendor's fusion switch file a pass belongs to.
enum class FusionGroup : uint8_t { kNone, kGraph, kBuffer };

struct Pass {
  std::string_view name;
  std::string_view purpose;  ///< one sentence, shown in docs
  /// Rewrites `function`, which may call others of `program`; true when it changed something. Null for fusions.
  bool (*run)(Function& function, const Program& program) = nullptr;
  FusionGroup group = FusionGroup::kNone;  ///< of a fusion: it may be switched off by name
  /// A fusion. Functions that it makes of others go into `program`; their names tell what they are made of, see
  /// variant_name.
  void (*fuse)(Function& function, Program& program, FusionCount& count) = nullptr;
  std::vector<std::string_view> aliases = {};  ///< names of the vendor's passes that do this
  /// Instead of `run` for a pass that goes by options and tells more than that it changed something.
  bool (*run_with_options)(Function& function, const PassOptions& options, PassReport& report) = nullptr;
};

/// In which dtype a node computes, and why.
struct NodePrecision {
  std::string node, op;
  DType source = DType::kUndefined, compute = DType::kUndefined;
  std::vector<DType> inputs, outputs;  ///< rounded to these; kUndefined: as computed; empty: none is
  std::string why;
};

struct PassReport {
  std::string_view name;
  double milliseconds = 0;
  size_t nodes_before = 0, nodes_after = 0;
  bool changed = false;
  FusionGroup group = FusionGroup::kNone;
  FusionCount fusion = {};
  std::vector<NodePrecision> precision = {};  ///< of nodes that have a choice, unless nothing was asked for
};

struct PassOptions {
  std::vector<std::string> skip = {};  ///< names of passes left out
  /// Called with the function before the first pass (stage "input") and after each that changed it.
  std::function<void(std::string_view stage, const Function&)> watch = {};
  Precision precision = {};
};

/// Runs all passes on `function` and verifies after each. Raises 161002 on an unknown name in `skip`, 500000 naming the
/// pass that left the function broken.
std::vector<PassReport> run_passes(Function& function, Program& program, const PassOptions& options = {});

/// The name of a function made of `function` by a pass; whoever forgets `function` forgets those that begin so.
std::string variant_name(std::string_view function, std::string_view change);
/// The name by which the client knows a function: of one made by a pass, that of what it was made of.
std::string client_name(std::string_view function);

}  // namespace npu::graph
