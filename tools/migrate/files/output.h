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

/// The user ended the run.
class Interrupted : public Refusal {
  using Refusal::Refusal;
};

/// Puts `bytes` at `path` with these permissions. Raises Refusal (path, reason, cure), DiskFull or Interrupted; what
/// stood at `path` is then untouched.
void write_file(const std::string& path, std::string_view bytes, mode_t mode);
/// The same with the bytes of another file.
void copy_file(const std::string& from, const std::string& to, mode_t mode);
/// Makes a symbolic link that says what `from` says.
void copy_link(const std::string& from, const std::string& to);
/// Makes the folder and those above it.
void make_folders(const std::string& path);

/// From now on SIGINT, SIGTERM and SIGHUP only set a flag; writing then raises Interrupted.
void catch_signals();
bool interrupted();
/// Ends the process as the signal would have, so that the shell sees it. Only after interrupted().
[[noreturn]] void end_by_signal();

}  // namespace npu::migrate
