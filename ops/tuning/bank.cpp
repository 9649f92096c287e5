// SPDX-License-Identifier: Apache-2.0
#include "ops/tuning/bank.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <mutex>
#include <sstream>
#include <system_error>
#include <utility>

#include "base/cache_path.h"
#include "base/error.h"
#include "base/json.h"
#include "base/log.h"
#include "base/setting.h"
#include "base/text.h"
#include "device/process/soc.h"

namespace npu::ops::tuning {
namespace {

namespace fs = std::filesystem;

NPU_SETTING(std::string, bank_root, "TUNE_BANK_PATH", "",
            "Folder of the banks of tuned choices (docs/tuning.md); else ASCEND_CACHE_PATH/aoe_data, else "
            "~/Ascend/latest/data/aoe.");

constexpr std::string_view kFormat = "AnyNPU tuning bank";
constexpr int64_t kVersion = 1;

fs::path root() {
  if (!bank_root().empty()) return bank_root();
  return cache_path("aoe_data", "Ascend/latest/data/aoe");
}

OrderedJson json_of(const Bank::Key& key, const Entry& e) {
  OrderedJson out{{"point", key.first},   {"key", key.second},      {"way", e.way},        {"usual", e.usual},
                  {"won", e.won},         {"usual_us", e.usual_us}, {"way_us", e.way_us},  {"ratio", e.ratio},
                  {"low", e.low},         {"high", e.high},         {"noise", e.noise},    {"pairs", e.pairs},
                  {"threads", e.threads}, {"time", e.time},         {"product", e.product}};
  if (!e.note.empty()) out["note"] = e.note;
  return out;
}

void read_entry(const Json& from, Bank& bank) {
  Entry e{.way = from.at("way").get<std::string>(),
          .usual = from.at("usual").get<std::string>(),
          .won = from.at("won").get<bool>(),
          .usual_us = from.at("usual_us").get<double>(),
          .way_us = from.at("way_us").get<double>(),
          .ratio = from.at("ratio").get<double>(),
          .low = from.at("low").get<double>(),
          .high = from.at("high").get<double>(),
          .noise = from.at("noise").get<double>(),
          .pairs = from.at("pairs").get<int64_t>(),
          .threads = from.at("threads").get<int64_t>(),
          .time = from.at("time").get<std::string>(),
          .product = from.at("product").get<std::string>(),
          .note = from.value("note", "")};
  bank.entries[{from.at("point").get<std::string>(), from.at("key").get<std::string>()}] = std::move(e);
}

[[noreturn]] void refuse(const fs::path& file, std::string_view what) {
  fail(Code::kParseFile, "{} is no bank of tuned choices: {}; delete it, or name another folder by TUNE_BANK_PATH",
       file.string(), what);
}

Bank parse(const fs::path& file, std::string_view text) {
  try {
    const Json all = parse_json(text);
    if (!all.is_object() || all.value("format", "") != kFormat)
      refuse(file, fmt::format("its \"format\" is not \"{}\"", kFormat));
    if (const auto version = all.at("version").get<int64_t>(); version != kVersion)
      refuse(file, fmt::format("its version is {}, this product reads {}", version, kVersion));
    Bank bank{all.at("job").get<std::string>(), all.at("soc").get<std::string>(), all.at("cpu").get<std::string>(), {}};
    for (const auto& entry : all.at("entries")) read_entry(entry, bank);
    return bank;
  } catch (const JsonError& e) {
    refuse(file, e.what());
  } catch (const Error& e) {
    if (e.code() == Code::kParseFile) throw;
    refuse(file, e.message());
  }
}

[[noreturn]] void cannot_write(const fs::path& file, int error) {
  fail(Code::kInvalidFile, "{} cannot be written: {}; free space, or name another folder by TUNE_BANK_PATH",
       file.string(), std::generic_category().message(error));
}

/// Holds the lock of a bank; others wait.
class Locked {
 public:
  explicit Locked(const fs::path& file) {
    const fs::path lock = file.string() + ".lock";
    descriptor_ = open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor_ < 0) cannot_write(lock, errno);
    while (flock(descriptor_, LOCK_EX) != 0 && errno == EINTR) {
    }
  }
  ~Locked() { close(descriptor_); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  int descriptor_;
};

void write_whole(const fs::path& file, const std::string& text) {
  const fs::path part = fmt::format("{}.{}.part", file.string(), getpid());
  std::FILE* to = std::fopen(part.c_str(), "we");
  if (to == nullptr) cannot_write(part, errno);
  const bool written = std::fwrite(text.data(), 1, text.size(), to) == text.size();
  const int error = errno;
  const bool closed = std::fclose(to) == 0;
  if (!written || !closed || std::rename(part.c_str(), file.c_str()) != 0) {
    const int reason = written ? errno : error;
    unlink(part.c_str());
    cannot_write(file, reason);
  }
}

/// The bank of this process, of one job.
struct InForce {
  bool read = false, answers = false;
  Bank bank;
};

struct Banks {
  std::mutex mutex;
  InForce jobs[2];
  bool told_unwritten = false;
};
// Never destroyed: streams plan until the process is gone.
Banks& banks() {
  static Banks& all = *new Banks;
  return all;
}

bool counts(const Entry& entry) { return entry.product == product_version(); }

void tell(std::string_view text) {
  NPU_LOG(kWarning, "TUNE", "{}", text);
  fmt::print(stderr, "[Aoe] {}\n", text);
}

Bank empty_bank(Job job) { return {std::string(name_of(job)), device::soc().name, cpu_name(), {}}; }

void tell_of_others(const Bank& bank, const fs::path& file) {
  size_t others = 0;
  for (const auto& [key, entry] : bank.entries) others += counts(entry) ? 0 : 1;
  if (others > 0)
    tell(fmt::format("{} of {} entries of {} were measured by another version and are not used; tune again", others,
                     bank.entries.size(), file.string()));
}

void read_if_there(Job job, InForce& in_force) {
  in_force.read = true;
  in_force.bank = empty_bank(job);
  try {
    const fs::path file = bank_file(job);
    std::error_code none;
    if (!fs::exists(file, none)) return;
    in_force.bank.merge(read_bank(file));
    tell_of_others(in_force.bank, file);
  } catch (const Error& e) {
    tell(e.message() + "; nothing tuned is used");
  }
}

/// Calls body(bank in force) under the lock.
template <class Body>
auto with_bank(Job job, Body&& body) {
  const std::lock_guard lock(banks().mutex);
  InForce& in_force = banks().jobs[job == Job::kGraphs ? 0 : 1];
  if (!in_force.read) {
    read_if_there(job, in_force);
    for (const auto& [key, entry] : in_force.bank.entries) in_force.answers |= entry.won && counts(entry);
  }
  return body(in_force);
}

std::string read_cpu_name() {
  std::ifstream info("/proc/cpuinfo");
  std::string line, vendor, family, model;
  const auto value = [&](std::string_view name, std::string& to) {
    if (to.empty() && line.starts_with(name)) to = trimmed(std::string_view(line).substr(line.find(':') + 1));
  };
  while (std::getline(info, line) && (vendor.empty() || family.empty() || model.empty())) {
    value("vendor_id", vendor), value("CPU implementer", vendor);
    value("cpu family", family), value("CPU architecture", family);
    value("model\t", model), value("CPU part", model);
  }
  return vendor.empty() ? "unknown" : fmt::format("{}-{}-{}", vendor, family, model);
}

}  // namespace

std::string_view name_of(Job job) { return job == Job::kGraphs ? "graph" : "op"; }

std::string_view product_version() { return ANYNPU_VERSION; }

const std::string& cpu_name() {
  static const std::string& name = *new std::string(read_cpu_name());
  return name;
}

fs::path bank_file(Job job) { return root() / "custom" / name_of(job) / device::soc().name / (cpu_name() + ".json"); }

const Entry* Bank::find(std::string_view point, std::string_view key) const {
  const auto at = entries.find({std::string(point), std::string(key)});
  return at == entries.end() ? nullptr : &at->second;
}

size_t Bank::merge(const Bank& other) {
  require(job == other.job && soc == other.soc && cpu == other.cpu,
          "a bank of {} for {} on {} does not go into one of {} for {} on {}: what is fast on one is not on another",
          other.job, other.soc, other.cpu, job, soc, cpu);
  size_t changed = 0;
  for (const auto& [key, entry] : other.entries) {
    const auto [at, added] = entries.try_emplace(key, entry);
    if (!added && (entry.time < at->second.time || entry == at->second)) continue;
    at->second = entry;
    ++changed;
  }
  return changed;
}

std::string Bank::text() const {
  OrderedJson all{{"format", kFormat}, {"version", kVersion}, {"job", job}, {"soc", soc}, {"cpu", cpu}};
  all["entries"] = OrderedJson::array();
  for (const auto& [key, entry] : entries) all["entries"].push_back(json_of(key, entry));
  return all.dump(1) + "\n";
}

Bank read_bank(const fs::path& file) {
  std::ifstream from(file, std::ios::binary);
  std::ostringstream text;
  if (!from || !(text << from.rdbuf()))
    fail(Code::kInvalidFile, "{} cannot be read; give a bank of tuned choices", file.string());
  return parse(file, text.str());
}

size_t add_to_bank(const fs::path& file, const Bank& bank) {
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  if (error) cannot_write(file.parent_path(), error.value());
  const Locked lock(file);
  Bank all = fs::exists(file, error) ? read_bank(file) : Bank{bank.job, bank.soc, bank.cpu, {}};
  const size_t changed = all.merge(bank);
  if (changed > 0) write_whole(file, all.text());
  return changed;
}

std::optional<Entry> entry_of(Job job, std::string_view point, std::string_view key) {
  return with_bank(job, [&](const InForce& in_force) -> std::optional<Entry> {
    const Entry* found = in_force.bank.find(point, key);
    if (found == nullptr || !counts(*found)) return std::nullopt;
    return *found;
  });
}

std::optional<std::string> answer_of(Job job, std::string_view point, std::string_view key) {
  const auto entry = entry_of(job, point, key);
  if (!entry || !entry->won) return std::nullopt;
  return entry->way;
}

bool has_answers(Job job) {
  return with_bank(job, [](const InForce& in_force) { return in_force.answers; });
}

std::string state_of(Job job) {
  return with_bank(job, [](const InForce& in_force) {
    std::string out;
    for (const auto& [key, entry] : in_force.bank.entries)
      if (entry.won && counts(entry)) out += fmt::format("{} {} {}\n", key.first, key.second, entry.way);
    return out;
  });
}

void learn(Job job, const std::string& point, const std::string& key, const Entry& entry) {
  Bank one = empty_bank(job);
  one.entries[{point, key}] = entry;
  with_bank(job, [&](InForce& in_force) {
    in_force.bank.entries[{point, key}] = entry;
    in_force.answers |= entry.won;
  });
  try {
    add_to_bank(bank_file(job), one);
  } catch (const Error& e) {
    const std::lock_guard lock(banks().mutex);
    if (!std::exchange(banks().told_unwritten, true)) tell(e.message() + "; what is tuned holds for this process only");
  }
}

fs::path use_bank_folder(fs::path folder) {
  const fs::path before = root();
  const std::lock_guard lock(banks().mutex);
  for (InForce& one : banks().jobs) one = {};
  banks().told_unwritten = false;
  bank_root.override(folder.string());
  detail::awake.store(true);
  return before;
}

}  // namespace npu::ops::tuning
