// SPDX-License-Identifier: Apache-2.0
// Writing of files that are there as a whole or not at all: into a temporary file beside, then renamed over.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "tools/migrate/text/source.h"

namespace npu::migrate {

/// Nothing more can be written there: what comes next would fail the same way.
class DiskFull : public Refusal {
  using Refusal::Refusal;
};

/// A name for a file that is being written, in the folder of `path`. The file is taken away again unless keep() is
/// called first; by the signals of catch_signals(), too.
class Temporary {
 public:
  explicit Temporary(const std::string& path);
  Temporary(const Temporary&) = delete;
  ~Temporary();
  const char* name() const { return name_.c_str(); }
  /// Renames it over `path`; false (errno tells why) where that fails.
  bool keep(const std::string& path);

 private:
  std::string name_;
  size_t slot_;
};

/// Puts `bytes` at `path` with these permissions. Raises Refusal (path, reason, cure) or DiskFull; what stood at `path`
/// is then untouched.
void write_file(const std::string& path, std::string_view bytes, mode_t mode);
/// The same with the bytes of another file.
void copy_file(const std::string& from, const std::string& to, mode_t mode);
/// Makes a symbolic link that says what `from` says.
void copy_link(const std::string& from, const std::string& to);
/// Makes the folder and those above it.
void make_folders(const std::string& path);

/// From now on SIGINT, SIGTERM and SIGHUP take unfinished files away, say so, and end the process as ever; a reader
/// that goes away is a failed write.
void catch_signals();

}  // namespace npu::migrate
