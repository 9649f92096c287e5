// SPDX-License-Identifier: Apache-2.0
// The files of a project, migrated together: first what each gives to the others, then each by itself.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tools/migrate/migration/change.h"
#include "tools/migrate/migration/program_map.h"
#include "tools/migrate/names/project.h"
#include "tools/migrate/rule/options.h"
#include "tools/migrate/rule/rule_index.h"
#include "tools/migrate/text/packed_tree.h"
#include "tools/migrate/text/tree.h"

namespace npu::migrate {

class Batch {
 public:
  /// Reads a file by its path below the input; raises Refusal where it cannot. Called from several threads.
  using Load = std::function<Source(const std::string& path)>;
  /// Takes a finished file; called by one thread at a time, in no special order. A file that another asked for an edit
  /// of comes a second time at the end: what came later counts.
  using Take = std::function<void(FileResult&&)>;

  Batch(std::vector<std::string> paths, Load load, const RuleIndex& rules, const Options& options);
  /// One bad file never stops the rest: it comes back with its failure.
  void run(size_t threads, const Take& take);

  // run() in two halves:
  /// The first look at these files, by their place among the paths; again where a file is another one now.
  void gather(const std::vector<size_t>& indices, size_t threads);
  /// All the rest, once.
  void migrate(size_t threads, const Take& take);

 private:
  void gather(size_t index);
  void keep(size_t index, const Tree& tree);
  FileResult migrated(size_t index, const std::vector<Remote>& remote);

  std::vector<std::string> paths_;
  Load load_;
  const RuleIndex& rules_;
  const Options& options_;
  Project project_;
  ProgramMap programs_;
  std::vector<std::unique_ptr<PackedTree>> trees_;  // from the first look at a file to the second, where kept
  std::atomic<size_t> kept_ = 0;                    // bytes of them
};

/// Calls body(i) for i in [0, count) on so many threads; for work that never throws.
void in_parallel(size_t count, size_t threads, const std::function<void(size_t)>& body);

}  // namespace npu::migrate
