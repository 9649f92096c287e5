// SPDX-License-Identifier: Apache-2.0
// One run over a file or a folder: what every face of the tool does between its command line and its reports.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tools/migrate/files/walk.h"
#include "tools/migrate/migration/batch.h"

namespace npu::migrate {

struct Job {
  std::string input;                ///< a file or a folder, absolute, no link
  std::optional<std::string> text;  ///< migrated in the place of `input`, as the file <stdin>
  std::string output;               ///< the folder to make (for a file: the folder it goes to); "" writes nothing
  std::string file_name;            ///< of the output, where the input is a file; "" its own
  bool in_place = false;            ///< changed files take the place of their originals, after all are done
  bool keep_texts = false;          ///< before and after stay in the results of changed files
  bool keep_uses = false;           ///< so do the uses of APIs
  bool look_at_configs = false;     ///< *.yaml, *.json, *.sh: device names are reported …
  bool change_configs = false;      ///< … and changed
  Options options;
  size_t threads = 0;  ///< 0: as many as the machine has
  /// Every finished file of Python, as they come; one thread at a time. A file may come twice.
  std::function<void(const FileResult&)> on_file;
};

struct Outcome {
  std::vector<FileResult> files;      ///< Python, then config files; in the order of their paths
  std::vector<std::string> failures;  ///< what could not be read, copied or written: path, reason, cure
  std::vector<std::string> notes;     ///< what is left as it is, and why
  size_t unfinished = 0;              ///< files not written, because the run ended early

  bool failed() const;
  size_t changed_files() const;
};

/// Never raises for one bad file; raises Refusal where nothing can be done at all.
Outcome run(const Job& job, const RuleIndex& rules);

/// Where the input's files are: the input itself, or the folder of the single file.
std::string root_of(const Job& job);

/// Files over this are left as they are: their trees would not fit into the memory promised.
inline constexpr size_t kLargestSource = size_t{32} << 20;

}  // namespace npu::migrate
