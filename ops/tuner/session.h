// SPDX-License-Identifier: Apache-2.0
// Tuning while a program runs, as the vendor's AOE does it: kernels that the program runs are measured in their ways
// when they are met for the first time, and what wins goes into the bank (ops/tuning/bank.h). One session at a time.
#pragma once

#include <filesystem>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ops/tuner/timing.h"
#include "ops/tuning/bank.h"

namespace npu::ops::tuning {

/// What the vendor's tuning configuration says: {"tune_ops_name": […], "tune_ops_type": […], "tune_optimization_level":
/// "O1"|"O2", "feature": ["deeper_opat"]}.
struct Scope {
  std::set<std::string> names = {}, types = {};  ///< of operators; both empty: all
  bool thorough = false;                         ///< O1: three times the rounds
  bool again = false;                            ///< deeper_opat: what was measured and did not win is measured again

  bool wants(std::string_view name, std::string_view type) const;
};
/// Reads such a text, also as the guide prints it, with a comma missing between two members. Raises 100006 naming the
/// member that is wrong; `notice` hears of what has no effect.
Scope read_scope(std::string_view text, const std::function<void(std::string_view)>& notice);

/// One question, measured or known.
struct Finding {
  std::string name, type;  ///< of the operator, or the fused node
  Bank::Key question;
  Entry entry;
  enum class Outcome { kAdded, kUpdated, kHit, kReserved, kFailed } outcome;
  std::string reason = {};  ///< of a failure
};

class Session {
 public:
  Session(Job job, Scope scope, std::filesystem::path work_path);

  Job job() const { return job_; }
  const Scope& scope() const { return scope_; }
  Effort effort() const { return {scope_.thorough ? 33 : 11}; }

  /// Whether a question is still to be measured; tells of those that are known, once each.
  bool is_open(const Bank::Key& question, std::string_view name, std::string_view type);
  /// Keeps what was measured in the bank, and says on the console what won.
  void found(const Bank::Key& question, Entry entry, std::string_view name, std::string_view type);
  void failed(const Bank::Key& question, std::string_view name, std::string_view type, std::string reason);
  /// Measuring is for one thread of all processes that use this bank.
  void alone(const std::function<void()>& measure);

  /// Writes aoe_result_{opat|sgat}_{time}_{process}.json into the work path and tells the sums on the console.
  void finish();
  std::vector<Finding> findings() const;

 private:
  void keep(Finding finding);
  std::string report() const;

  const Job job_;
  const Scope scope_;
  const std::filesystem::path work_path_;
  const double start_;
  std::string started_;
  mutable std::mutex mutex_;
  std::mutex measuring_;
  std::set<Bank::Key> met_;
  std::vector<Finding> findings_;
};

/// A line on the console and in the log, as AOE's begin.
void say(std::string_view text);

/// An entry that tells of a comparison, made now.
Entry entry_from(const Comparison& comparison, std::string way, std::string usual);

}  // namespace npu::ops::tuning
