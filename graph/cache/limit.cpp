// SPDX-License-Identifier: Apache-2.0
#include "graph/cache/limit.h"

#include <fmt/format.h>

#include <charconv>
#include <fstream>
#include <string>

#include "base/file.h"
#include "base/setting.h"
#include "base/text.h"

namespace npu::graph::cache {
namespace {

constexpr Limit kDefault;
constexpr int64_t kMostMegabytes = int64_t{1} << 40;
constexpr const char* kFile = "op_cache.ini";
constexpr std::string_view kSection = "[op_compiler_cache]";

NPU_SETTING(
    int64_t, most_megabytes, "ASCEND_MAX_OP_CACHE_SIZE", kDefault.megabytes,
    "Megabytes that compiled functions kept on disk may take. What op_cache.ini in the cache's folder says wins.");
NPU_SETTING(int64_t, remain_percent, "ASCEND_REMAIN_CACHE_SIZE_RATIO", kDefault.remain_percent,
            "Percent of ASCEND_MAX_OP_CACHE_SIZE, 1 to 100, that stay when compiled functions kept on disk take more: "
            "those go that were not used for longest.");

bool valid(const Limit& limit) {
  return limit.megabytes > 0 && limit.megabytes < kMostMegabytes && limit.remain_percent >= 1 &&
         limit.remain_percent <= 100;
}

/// 0 for what is no number, which no value may be.
int64_t number(std::string_view text) {
  int64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc{} && end == text.data() + text.size() ? out : 0;
}

}  // namespace

std::optional<Limit> read_limit(std::string_view ini) {
  Limit found{0, 0};
  bool inside = false;
  each_line(ini, [&](std::string_view line) {
    if (line.front() == '[') inside = line == kSection;
    const size_t equals = line.find('=');
    if (!inside || equals == line.npos) return;
    std::string_view name = trimmed(line.substr(0, equals));
    if (name.starts_with("ascend_")) name.remove_prefix(7);
    const int64_t value = number(trimmed(line.substr(equals + 1)));
    if (name == "max_op_cache_size") found.megabytes = value;
    if (name == "remain_cache_size_ratio") found.remain_percent = value;
  });
  return valid(found) ? std::optional(found) : std::nullopt;
}

Limit limit_of(const std::filesystem::path& folder) {
  if (const auto told = read_limit(whole_file((folder / kFile).string()).value_or(""))) return *told;
  Limit limit{most_megabytes(), remain_percent()};
  if (limit.megabytes <= 0 || limit.megabytes >= kMostMegabytes) limit.megabytes = kDefault.megabytes;
  if (!valid(limit)) limit.remain_percent = kDefault.remain_percent;
  return limit;
}

void write_limit(const std::filesystem::path& folder) {
  std::error_code ignored;
  if (std::filesystem::exists(folder / kFile, ignored)) return;
  const Limit limit = limit_of(folder);
  std::ofstream(folder / kFile) << fmt::format(
      "# The room that compiled functions kept in this folder may take, for all who use it.\n{}\n"
      "# megabytes\nascend_max_op_cache_size={}\n"
      "# percent of it that stay when it is used up, 1 to 100\nascend_remain_cache_size_ratio={}\n",
      kSection, limit.megabytes, limit.remain_percent);
}

}  // namespace npu::graph::cache
