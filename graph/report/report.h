// SPDX-License-Identifier: Apache-2.0
// What became of a library's functions: how many nodes run here and how many on the client's side, what compiling cost
// and why it was done again, how much memory the plans take.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "graph/passes/pass.h"
#include "graph/run/listener.h"

namespace npu::graph {

/// A plan that has just been made.
struct Compiled {
  const std::string& function;
  int64_t graph;      ///< counts the library's functions from 1, in order of their first plan
  int64_t plan;       ///< counts the function's plans from 1
  std::string cause;  ///< why another plan was needed; "" for the first
  double milliseconds;
  int64_t nodes;             ///< of the function, after the passes
  int64_t host_nodes;        ///< how many of them run on the client's side, as far as is known before a run
  int64_t loops;             ///< how many are loops
  const std::string& cache;  ///< "hit 1f…", "miss 1f…", "not kept: …"; "" where nothing is kept
};

class Report final : public Listener {
 public:
  explicit Report(int device = 0) : device_(device) {}

  void met(const Function& function, Role role) override;
  void looked_up(const std::string& function, const cache::Lookup& lookup) override;
  void planned(const PlanMade& made) override;
  void ran_on_host(const std::string& function, const Node& node, std::string_view reason, std::span<const Value> in,
                   std::span<const Value> out) override;
  void rewritten(const std::string& function, const std::vector<PassReport>& passes) override;
  void overlapped(const std::string& function, const Overlap& overlap) override;
  void unfused(const std::string& function, const Node& node, const std::string& reason) override;
  /// `watch` is called for every plan of a function that the client asked for, on the thread that made it; it must not
  /// run functions.
  void watch(std::function<void(const Compiled&)> watch);

  /// `function` is gone. What was said of it stays to be read, for as many as went last.
  void retire(const std::string& function);
  /// `function` is gone, and what was said of it.
  void forget(const std::string& function);

  /// {"functions": [{"name", "device", "cache", "plans", "nodes", "native_nodes", "host_nodes", "compile_ms",
  ///   "peak_bytes", "live_bytes", "recompiles", "causes": [text], "segments": [text], "collectives",
  ///   "beside", "beside_ms", "waited_ms", "host": [{"op", "reason", "runs", "bytes"}],
  ///   "fusions": [{"pass", "matched", "effective", "declined": {reason: count}}], "precision": [{"node", "op",
  ///   "source", "dtype", "inputs", "outputs", "why"}]}]}, functions by name; causes are the last few; segments tell
  ///   how gradients go together (run/segments.h), collectives how often a run
  ///   meets other ranks, the next three what of that ran beside other nodes in all runs. precision is
  ///   there where a mode or a rule was asked for: what the graph said, what the node computes in, and to what its
  ///   inputs and outputs are rounded where that differs.
  std::string json() const;
  /// The same to read; operators that were run one by one in one line.
  std::string text() const;
  /// What the fusion passes did to functions that have a plan, in the form of the vendor's fusion_result.json, an
  /// object:
  /// {"session_and_graph_id_<device>_<graph>": {"graph_name", "graph_fusion": {pass: {"match_times", "effect_times"}},
  /// "ub_fusion": {…, with "repository_hit_times"}}}, counts as texts; "{}" for none.
  std::string fusion_json() const;

 private:
  struct Host {
    std::string reason;
    int64_t runs = 0, bytes = 0;
  };
  struct Fusion {
    std::string pass;
    FusionGroup group;
    FusionCount count;
  };
  struct Entry {
    Role role = Role::kBody;
    int64_t graph = 0, plans = 0, nodes = 0, peak_bytes = 0, live_bytes = 0, recompiles = 0;
    double compile_ms = 0;
    std::string cache;
    std::vector<std::string> segments;
    int64_t collectives = 0;
    Overlap overlap;
    std::deque<std::string> causes;
    std::map<std::string, Host> host;  ///< by operator
    std::set<std::string> host_nodes;  ///< by name
    std::vector<Fusion> fusions;
    std::map<std::string, int64_t> unfused;  ///< fused nodes that run part by part, by reason
    std::vector<NodePrecision> precision;
  };
  static std::string text_of(const std::string& name, const Entry& entry);
  std::string text_of_operators() const;

  const int device_;
  mutable std::mutex mutex_;
  int64_t graphs_ = 0;
  std::map<std::string, Entry> functions_;
  std::deque<std::string> retired_;
  std::function<void(const Compiled&)> watch_;
};

/// Where ANYNPU_REPORT asks for it, `report` is written when the process ends; several go to one place.
void report_at_exit(const std::shared_ptr<const Report>& report);
/// Writes `reports` as a value of ANYNPU_REPORT says: "1" as text to stderr, "name.json" as JSON, another name as text.
void write_reports(const std::string& where, const std::vector<std::shared_ptr<const Report>>& reports);

}  // namespace npu::graph
