// SPDX-License-Identifier: Apache-2.0
#include "base/log/folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <map>
#include <utility>

namespace npu {
namespace {

namespace fs = std::filesystem;

template <class T>
bool read_number(std::string_view text, T& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() && !text.empty();
}

bool take(std::string_view& text, std::string_view start) {
  if (!text.starts_with(start)) return false;
  text.remove_prefix(start.size());
  return true;
}

// A file whose writer lives is locked; so is one that cannot be asked.
bool is_locked(const fs::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) return errno != ENOENT;
  const bool locked = flock(file, LOCK_SH | LOCK_NB) != 0;
  ::close(file);
  return locked;
}

struct Listed {
  LogFileName name;
  uint64_t bytes;
};

uint64_t total(const std::vector<Listed>& files) {
  uint64_t bytes = 0;
  for (const Listed& file : files) bytes += file.bytes;
  return bytes;
}

std::vector<Listed> with_sizes(const fs::path& root) {
  std::vector<Listed> out;
  for (LogFileName& name : log_files(root)) {
    std::error_code error;
    const uint64_t bytes = fs::file_size(name.path, error);
    if (!error) out.push_back({std::move(name), bytes});
  }
  return out;
}

/// Processes that write below a root, as far as they were asked for.
class Living {
 public:
  explicit Living(const std::vector<Listed>& files) : files_(files) { lives_[getpid()] = true; }
  bool has(pid_t pid) {
    const auto [at, fresh] = lives_.try_emplace(pid, false);
    if (fresh)
      at->second =
          std::ranges::any_of(files_, [pid](const Listed& f) { return f.name.pid == pid && is_locked(f.name.path); });
    return at->second;
  }

 private:
  const std::vector<Listed>& files_;
  std::map<pid_t, bool> lives_;
};

}  // namespace

std::optional<LogFileName> parse_log_path(const fs::path& path) {
  LogFileName out{.path = path, .kind = path.parent_path().parent_path().filename().string(), .time = {}};
  const std::string folder = path.parent_path().filename().string(), name = path.filename().string();
  std::string_view place = folder, rest = name;
  if (out.kind != "debug" && out.kind != "run" && out.kind != "security") return std::nullopt;
  if (take(place, "device-") ? !read_number(place, out.device) || !take(rest, "device-")
                             : place != "plog" || !take(rest, "plog-"))
    return std::nullopt;
  const size_t underscore = rest.find('_');
  if (underscore == std::string_view::npos || !rest.ends_with(".log")) return std::nullopt;
  out.time = rest.substr(underscore + 1, rest.size() - underscore - 5);
  const bool digits = std::ranges::all_of(out.time, [](char c) { return c >= '0' && c <= '9'; });
  if (!digits || !read_number(rest.substr(0, underscore), out.pid)) return std::nullopt;
  return out;
}

std::vector<LogFileName> log_files(const fs::path& root) {
  std::vector<LogFileName> out;
  std::error_code error;
  for (const char* kind : {"debug", "run", "security"})
    for (const fs::path& folder : fs::directory_iterator(root / kind, error))
      for (const fs::path& file : fs::directory_iterator(folder, error))
        if (auto name = parse_log_path(file)) out.push_back(std::move(*name));
  std::ranges::sort(out, [](const auto& a, const auto& b) {
    return std::tie(a.time, a.pid, a.path) < std::tie(b.time, b.pid, b.path);
  });
  return out;
}

void LogFolder::keep_below_limit() {
  const std::vector<Listed> files = with_sizes(root);
  uint64_t left = total(files);
  const uint64_t wanted = limit > largest_file ? limit - largest_file : 0;
  if (left <= wanted) return;
  Living living(files);
  size_t removed = 0;
  for (const Listed& file : files) {
    if (left <= wanted) break;
    std::error_code error;
    if (living.has(file.name.pid) || !fs::remove(file.name.path, error)) continue;
    left -= file.bytes;
    ++removed;
  }
  if (removed > 0)
    tell(fmt::format("{} of processes that have ended went from {}, because the logs reached ANYNPU_LOG_LIMIT={}",
                     removed == 1 ? "the oldest log file" : fmt::format("the {} oldest log files", removed),
                     root.string(), limit));
  else if (left > limit)
    tell(
        fmt::format("the logs in {} take {} bytes, more than ANYNPU_LOG_LIMIT={}, and nothing of it can be removed: "
                    "all belong to living processes or other users",
                    root.string(), left, limit));
}

void LogFolder::complain(const fs::path& file, int error) {
  if (std::exchange(complained_, true)) return;
  fmt::print(stderr,
             "anynpu: the log file {} cannot be written ({}); set ASCEND_PROCESS_LOG_PATH to a folder that can\n",
             file.string(), std::strerror(error));
}

void LogFolder::tell(const std::string& text) {
  if (std::exchange(told_, true)) return;
  fmt::print(stderr, "anynpu: {}\n", text);
}

}  // namespace npu
