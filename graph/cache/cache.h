// SPDX-License-Identifier: Apache-2.0
// What compiling gave is kept on disk, for the next process that compiles the same: the function after all passes, and
// those that passes made of others. Plans are made anew, for they hold code and addresses of a process.
//
// Nothing that goes wrong with the disk changes what is computed: the passes run then, and one line on stderr tells
// why.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "graph/cache/folder.h"
#include "graph/cache/kept_function.h"
#include "graph/cache/key.h"
#include "graph/cache/lookup.h"
#include "graph/passes/pass.h"

namespace npu::graph::cache {

enum class Mode : uint8_t {
  kDisable,
  kEnable,
  kForce,  ///< what is there goes, once a process; then as kEnable
};

/// "enable", "disable", "force"; raises 161002 for another word, which is the value of `option`.
Mode mode_of(std::string_view word, std::string_view option);
/// The same of op_compiler_cache_mode, over which ANYNPU_COMPILE_CACHE wins where it is set.
Mode mode_in_force(std::string_view word);
/// Where entries are when `folder` is the option's value: its kernel_cache; "" means the default, see docs/caches.md.
std::filesystem::path place_of(std::string_view folder);

class Cache {
 public:
  Cache(Mode mode, std::filesystem::path place);

  /// As graph::run_passes; `lookup` tells how.
  std::vector<PassReport> run_passes(Function& function, Program& program, const PassOptions& options, Lookup& lookup);

 private:
  bool take(const Key& key, Function& function, Program& program, std::vector<PassReport>& passes);
  void keep(const Key& key, const Function& function, const Program& program, const std::vector<PassReport>& passes,
            double milliseconds);
  void warn_once(std::string_view about, const std::string& text);

  const Folder folder_;
  std::mutex mutex_;
  std::set<std::string, std::less<>> warned_;
};

/// Null where nothing is to be kept.
std::shared_ptr<Cache> open(Mode mode, const std::filesystem::path& place);

}  // namespace npu::graph::cache
