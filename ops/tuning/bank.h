// SPDX-License-Identifier: Apache-2.0
// Banks of tuned choices: JSON files that people can read, one for each kind of work, SoC and class of CPU:
//
//   <root>/custom/{op|graph}/<SoC>/<CPU>.json
//   {"format": "AnyNPU tuning bank", "version": 1, "job": "op", "soc": …, "cpu": …, "entries": [
//     {"point": "conv_way", "key": "forward float32 …", "way": "own", "usual": "library", "won": true,
//      "usual_us": 812.4, "way_us": 655.1, "ratio": 1.24, "low": 1.21, "high": 1.26, "noise": 0.013,
//      "pairs": 15, "threads": 2, "time": "2026-11-26T10:20:30Z", "product": "0.1.0"}]}
//
// <root> is TUNE_BANK_PATH, else ASCEND_CACHE_PATH/aoe_data, else ~/Ascend/latest/data/aoe. Whoever plans kernels reads
// the files of its SoC and CPU once. Only what won by more than its noise, with this version of the product, answers;
// the rest says what need not be measured again. Files are replaced whole, under a lock, together with what others
// have written meanwhile; a damaged one is told once and left alone.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace npu::ops::tuning {

namespace detail {
/// Whether anybody may answer a question about kernels: at first nobody knows, and who asks looks for a bank.
inline constinit std::atomic<bool> awake{true};
}  // namespace detail

/// What is tuned: kernels of operators (the vendor's job type 2), or what fusion makes of graphs (1).
enum class Job : uint8_t { kGraphs = 1, kOperators = 2 };
/// "op" or "graph", as folders and banks call it.
std::string_view name_of(Job job);

/// What was measured for one question.
struct Entry {
  std::string way, usual;               ///< the best way, and the one that is taken by itself
  bool won = false;                     ///< by more than the noise
  double usual_us = 0, way_us = 0;      ///< medians
  double ratio = 1, low = 1, high = 1;  ///< of the usual time to that of the way: median and quartiles of the pairs
  double noise = 0;                     ///< how far the usual way is from itself: the quartiles' distance
  int64_t pairs = 0, threads = 0;
  std::string time, product;  ///< when, in UTC, and by which version
  std::string note = {};      ///< whose it is, for readers

  bool operator==(const Entry&) const = default;
};

struct Bank {
  using Key = std::pair<std::string, std::string>;  ///< point, and for what
  std::string job, soc, cpu;
  std::map<Key, Entry> entries;

  const Entry* find(std::string_view point, std::string_view key) const;
  /// Entries of `other` come in; of two for one question the newer one stays. Raises 161002 where they are of another
  /// job, SoC or CPU. Returns how many came in or changed.
  size_t merge(const Bank& other);
  std::string text() const;
};

/// Raises 100003 for a file that cannot be read, 100006 for one that is no bank: with the place, or what is wrong.
Bank read_bank(const std::filesystem::path& file);
/// Puts the entries of `bank` into `file`, which may be there or not. Raises 100003 where it cannot be written, and
/// what read_bank raises for one that is damaged, which is left as it is. Returns how many came in or changed.
size_t add_to_bank(const std::filesystem::path& file, const Bank& bank);

/// The class of this machine's CPU: vendor, family and model.
const std::string& cpu_name();
/// Where this process's bank of a job is.
std::filesystem::path bank_file(Job job);
/// This version of the product, which entries are measured with.
std::string_view product_version();

/// Entry of the bank in force, also one that did not win; null where nothing was measured with this version.
std::optional<Entry> entry_of(Job job, std::string_view point, std::string_view key);
/// The way that won; none where the usual one is right.
std::optional<std::string> answer_of(Job job, std::string_view point, std::string_view key);
/// Whether anything in the bank in force answers.
bool has_answers(Job job);
/// Text that changes with what the bank in force answers: "" without answers.
std::string state_of(Job job);
/// Adds to the bank in force and to its file; what cannot be written is told once, and holds for this process.
void learn(Job job, const std::string& point, const std::string& key, const Entry& entry);
/// For tests: banks are those below `root`, and are read anew; gives the root before.
std::filesystem::path use_bank_folder(std::filesystem::path root);

}  // namespace npu::ops::tuning
