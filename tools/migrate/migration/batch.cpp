// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/migration/batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <numeric>
#include <thread>

#include "tools/migrate/migration/migrated_file.h"
#include "tools/migrate/names/program_reader.h"

namespace npu::migrate {

namespace {

/// Bytes of trees kept between the two looks at files: those of 100 MB of Python. Further files are parsed twice.
constexpr size_t kMostKept = size_t{48} << 20;

}  // namespace

void in_parallel(size_t count, size_t threads, const std::function<void(size_t)>& body) {
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i; (i = next++) < count;) body(i);
  };
  std::vector<std::jthread> helpers;
  for (size_t i = 1; i < std::min(threads, count); ++i) helpers.emplace_back(work);
  work();
}

Batch::Batch(std::vector<std::string> paths, Load load, const RuleIndex& rules, const Options& options)
    : paths_(std::move(paths)),
      load_(std::move(load)),
      rules_(rules),
      options_(options),
      project_(paths_),
      trees_(paths_.size()) {}

void Batch::gather(size_t index) try {
  const Source source = load_(paths_[index]);
  const Tree tree(source);
  Evaluator names(tree, project_, paths_[index], static_cast<int32_t>(index), false);
  Program program = program_of(names);
  project_.set(index, names.exports(), std::move(program));
  keep(index, tree);
} catch (const std::exception&) {
  // The second pass meets the same file and reports it.
}

void Batch::keep(size_t index, const Tree& tree) {
  if (kept_ >= kMostKept) return;
  auto packed = std::make_unique<PackedTree>(tree.packed());
  if ((kept_ += packed->bytes()) <= kMostKept) trees_[index] = std::move(packed);
}

FileResult Batch::migrated(size_t index, const std::vector<Remote>& remote) {
  try {
    const Source source = load_(paths_[index]);
    const std::unique_ptr<PackedTree> packed = std::move(trees_[index]);
    Migration migration(source, packed.get(), project_, paths_[index], static_cast<int32_t>(index), options_,
                        programs_.of(index));
    return migrated_file(migration, rules_, remote);
  } catch (const std::exception& error) {
    FileResult result;
    result.path = paths_[index];
    result.failure = error.what();
    return result;
  }
}

void Batch::run(size_t threads, const Take& take) {
  std::vector<size_t> all(paths_.size());
  std::iota(all.begin(), all.end(), size_t{0});
  gather(all, threads);
  migrate(threads, take);
}

void Batch::gather(const std::vector<size_t>& indices, size_t threads) {
  in_parallel(indices.size(), threads, [&](size_t i) { gather(indices[i]); });
}

void Batch::migrate(size_t threads, const Take& take) {
  project_.settle();
  if (options_.whole) programs_ = ProgramMap(project_, paths_, options_);
  std::mutex mutex;
  std::map<size_t, std::vector<Remote>> asked;
  in_parallel(paths_.size(), threads, [&](size_t i) {
    FileResult result = migrated(i, {});
    const std::scoped_lock lock(mutex);
    for (Remote& remote : result.remote) {
      std::vector<Remote>& list = asked[remote.place.file];
      if (std::ranges::find(list, remote.place, &Remote::place) == list.end()) list.push_back(std::move(remote));
    }
    take(std::move(result));
  });
  for (const auto& [index, remote] : asked) take(migrated(index, remote));
}

}  // namespace npu::migrate
