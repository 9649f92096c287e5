// SPDX-License-Identifier: Apache-2.0
#include "ops/tuner/session.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <regex>

#include "base/error.h"
#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "base/thread_pool.h"

namespace npu::ops::tuning {
namespace {

namespace fs = std::filesystem;

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::tm utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm broken{};
  gmtime_r(&now, &broken);
  return broken;
}

// As reports call the job.
std::string_view report_name(Job job) { return job == Job::kOperators ? "opat" : "sgat"; }

/// The lock of those who measure, beside the bank.
class Turn {
 public:
  explicit Turn(const fs::path& bank) {
    std::error_code ignored;
    fs::create_directories(bank.parent_path(), ignored);
    descriptor_ = open((bank.string() + ".measuring").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    while (descriptor_ >= 0 && flock(descriptor_, LOCK_EX) != 0 && errno == EINTR) {
    }
  }
  ~Turn() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  int descriptor_;
};

std::set<std::string> words(const Json& all, const char* member) {
  if (!all.contains(member)) return {};
  const Json& list = all.at(member);
  const bool texts = list.is_array() && std::ranges::all_of(list, [](const auto& one) { return one.is_string(); });
  if (!texts)
    fail(Code::kParseFile, "{} in the tuning configuration is {}; write a list of names: [\"Conv2D\"]", member,
         list.dump());
  return list.get<std::set<std::string>>();
}

void read_level(const Json& all, Scope& scope) {
  const auto level = all.value("tune_optimization_level", Json("O2"));
  if (level != "O1" && level != "O2")
    fail(Code::kParseFile, "tune_optimization_level in the tuning configuration is {}; write \"O1\" or \"O2\"",
         level.dump());
  scope.thorough = level == "O1";
}

void read_features(const Json& all, Scope& scope, const std::function<void(std::string_view)>& notice) {
  for (const std::string& feature : words(all, "feature")) {
    if (feature == "deeper_opat")
      scope.again = true;
    else if (feature == "nonhomo_split")
      notice("feature nonhomo_split has no effect: graphs are not cut into blocks of the chip's buffers here");
    else
      fail(Code::kParseFile,
           "feature \"{}\" in the tuning configuration is unknown; there are deeper_opat, nonhomo_split", feature);
  }
}

OrderedJson operator_row(const Finding& finding) {
  return {{"op_name", finding.name},
          {"op_type", finding.type},
          {"performance_before_tune(us)", finding.entry.usual_us},
          {"performance_after_tune(us)", finding.entry.way_us},
          {"performance_improvement", fmt::format("{:.2f}%", (finding.entry.ratio - 1) * 100)},
          {"choice", finding.question.first},
          {"for", finding.question.second},
          {"way", finding.entry.way},
          {"instead_of", finding.entry.usual},
          {"ratio_quartiles", {finding.entry.low, finding.entry.high}},
          {"noise", finding.entry.noise}};
}

std::string_view outcome_key(Finding::Outcome outcome) {
  using enum Finding::Outcome;
  switch (outcome) {
    case kAdded: return "repo_add_num";
    case kUpdated: return "repo_update_num";
    case kHit: return "repo_hit_num";
    case kReserved: return "repo_reserved_num";
    default: return "repo_unsatisfied_num";
  }
}

}  // namespace

void say(std::string_view text) {
  fmt::print("[Aoe] {}\n", text);
  std::fflush(stdout);
  NPU_LOG(kInfo, "TUNE", "{}", text);
}

bool Scope::wants(std::string_view name, std::string_view type) const {
  if (names.empty() && types.empty()) return true;
  return names.contains(std::string(name)) || types.contains(std::string(type));
}

Scope read_scope(std::string_view text, const std::function<void(std::string_view)>& notice) {
  // The guide's own example lacks the comma after a list.
  const std::string whole = std::regex_replace(std::string(text), std::regex(R"(\](\s*)\")"), "],$1\"");
  Json all;
  try {
    all = parse_json(whole);
  } catch (const Error& e) {
    fail(Code::kParseFile, "the tuning configuration is no JSON: {}", e.message());
  }
  if (!all.is_object())
    fail(Code::kParseFile, "the tuning configuration is no object; write {{\"tune_ops_type\": [\"Conv2D\"]}}");
  Scope scope{.names = words(all, "tune_ops_name"), .types = words(all, "tune_ops_type")};
  read_level(all, scope);
  read_features(all, scope, notice);
  constexpr std::array kKnown{"tune_ops_name", "tune_ops_type", "tune_optimization_level", "feature"};
  for (const auto& [member, value] : all.items())
    if (std::ranges::find(kKnown, member) == kKnown.end())
      notice(fmt::format("{} in the tuning configuration is unknown and has no effect; there are {}", member,
                         fmt::join(kKnown, ", ")));
  return scope;
}

Session::Session(Job job, Scope scope, fs::path work_path)
    : job_(job),
      scope_(std::move(scope)),
      work_path_(std::move(work_path)),
      start_(seconds_now()),
      started_(fmt::format("{:%Y%m%d%H%M%S}", utc_now())) {}

bool Session::is_open(const Bank::Key& question, std::string_view name, std::string_view type) {
  {
    const std::lock_guard lock(mutex_);
    if (!met_.insert(question).second) return false;
  }
  const auto known = entry_of(job_, question.first, question.second);
  if (!known || (scope_.again && !known->won)) return true;
  keep({std::string(name), std::string(type), question, *known,
        known->won ? Finding::Outcome::kHit : Finding::Outcome::kReserved});
  return false;
}

void Session::found(const Bank::Key& question, Entry entry, std::string_view name, std::string_view type) {
  const auto before = entry_of(job_, question.first, question.second);
  entry.note = fmt::format("{} {}", type, name);
  learn(job_, question.first, question.second, entry);
  auto outcome = before && before->won ? Finding::Outcome::kUpdated : Finding::Outcome::kAdded;
  if (!entry.won) outcome = Finding::Outcome::kReserved;
  if (entry.won)
    say(fmt::format("{} {}: {} {} instead of {}, {:.1f} us instead of {:.1f} ({:.2f}x, quartiles {:.2f} {:.2f})", type,
                    name, question.first, entry.way, entry.usual, entry.way_us, entry.usual_us, entry.ratio, entry.low,
                    entry.high));
  keep({std::string(name), std::string(type), question, std::move(entry), outcome});
}

void Session::failed(const Bank::Key& question, std::string_view name, std::string_view type, std::string reason) {
  NPU_LOG(kWarning, "TUNE", "{} {}: {} of {} was not measured: {}", type, name, question.first, question.second,
          reason);
  keep({std::string(name), std::string(type), question, {}, Finding::Outcome::kFailed, std::move(reason)});
}

void Session::keep(Finding finding) {
  const std::lock_guard lock(mutex_);
  findings_.push_back(std::move(finding));
}

std::vector<Finding> Session::findings() const {
  const std::lock_guard lock(mutex_);
  return findings_;
}

void Session::alone(const std::function<void()>& measure) {
  const std::lock_guard one_thread(measuring_);
  const Turn turn(bank_file(job_));
  measure();
}

std::string Session::report() const {
  const bool operators = job_ == Job::kOperators;
  OrderedJson added = OrderedJson::array(), updated = OrderedJson::array(), failures = OrderedJson::array();
  OrderedJson summary{{"repo_add_num", 0},         {"repo_hit_num", 0},    {"repo_reserved_num", 0},
                      {"repo_unsatisfied_num", 0}, {"repo_update_num", 0}, {"total_num", findings_.size()}};
  for (const Finding& finding : findings_) {
    OrderedJson& count = summary[std::string(outcome_key(finding.outcome))];
    count = count.get<int64_t>() + 1;
    if (finding.outcome == Finding::Outcome::kAdded) added.push_back(operator_row(finding));
    if (finding.outcome == Finding::Outcome::kUpdated) updated.push_back(operator_row(finding));
    if (finding.outcome == Finding::Outcome::kFailed)
      failures.push_back({{"op_name", finding.name}, {"op_type", finding.type}, {"reason", finding.reason}});
  }
  const std::string kind = operators ? "OPAT" : "SGAT", lower(report_name(job_));
  OrderedJson modified = OrderedJson::object();
  if (!added.empty()) modified["add_repo_operators"] = added;
  if (!updated.empty()) modified["update_repo_operators"] = updated;
  OrderedJson tuning{
      {lower + "_tune_result", added.empty() && updated.empty() ? "tuning no improvement" : "tuning successful"},
      {"repo_modified_operators", modified},
      {"repo_summary", summary}};
  if (!failures.empty()) tuning["tune_failed_operators"] = failures;
  const OrderedJson basic{{"tuning_name", fmt::format("process_{}", getpid())},
                          {"tuning_time(s)", static_cast<int64_t>(seconds_now() - start_ + 0.5)},
                          {"bank", bank_file(job_).string()},
                          {"threads", thread_count()}};
  return OrderedJson{{fmt::format("report_{}_{}", started_, getpid()), {{{"basic", basic}}, {{kind, tuning}}}}}.dump(
             2) +
         "\n";
}

void Session::finish() {
  const std::lock_guard lock(mutex_);
  const auto won = std::ranges::count_if(findings_, [](const Finding& one) {
    return one.outcome == Finding::Outcome::kAdded || one.outcome == Finding::Outcome::kUpdated;
  });
  const fs::path file = work_path_ / fmt::format("aoe_result_{}_{}_{}.json", report_name(job_), started_, getpid());
  std::ofstream to(file);
  to << report();
  to.close();
  if (!to) say(fmt::format("{} cannot be written; what was tuned is in the bank all the same", file.string()));
  say(fmt::format("tuning of {} ends after {:.0f} s: {} choices met, {} new in {}; report {}",
                  job_ == Job::kOperators ? "operators" : "graphs", seconds_now() - start_, findings_.size(), won,
                  bank_file(job_).string(), file.string()));
}

Entry entry_from(const Comparison& c, std::string way, std::string usual) {
  return {.way = std::move(way),
          .usual = std::move(usual),
          .won = c.won(),
          .usual_us = c.usual_us,
          .way_us = c.way_us,
          .ratio = c.ratio,
          .low = c.low,
          .high = c.high,
          .noise = c.noise,
          .pairs = c.rounds,
          .threads = static_cast<int64_t>(thread_count()),
          .time = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", utc_now()),
          .product = std::string(product_version())};
}

}  // namespace npu::ops::tuning
