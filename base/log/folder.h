// SPDX-License-Identifier: Apache-2.0
// The folder of all logs of a user, which many processes share: <root>/{debug,run,security}/{plog,device-<id>}. Each
// file belongs to one process, which holds a lock on the one it writes, so that others can tell the living from the
// dead, in other containers too.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace npu {

/// A file of a log, and what its name and place tell.
struct LogFileName {
  std::filesystem::path path;
  std::string kind;     ///< debug, run, security
  int32_t device = -1;  ///< -1 is plog: the host's side
  pid_t pid = 0;
  std::string time;  ///< digits of the moment at which it was opened; they sort
};

/// Of <root>/<kind>/<folder>/<name>; none for a file that is no log.
std::optional<LogFileName> parse_log_path(const std::filesystem::path& path);
/// All below `root`, those opened first in front.
std::vector<LogFileName> log_files(const std::filesystem::path& root);

/// The rules of a root, and what was told of them. Only the owner of the log's lock uses it.
class LogFolder {
 public:
  std::filesystem::path root;
  size_t largest_file = size_t{20} << 20;
  size_t files_kept = 10;              ///< of a process and kind
  uint64_t limit = uint64_t{2} << 30;  ///< of all processes together

  /// Removes files of dead processes, the oldest first, until what is left leaves room for one more file. Tells on
  /// stderr when it removed any, or could not remove enough; once.
  void keep_below_limit();
  /// A line on stderr, once: `file` cannot be written.
  void complain(const std::filesystem::path& file, int error);

 private:
  void tell(const std::string& text);

  bool complained_ = false;
  bool told_ = false;
};

}  // namespace npu
