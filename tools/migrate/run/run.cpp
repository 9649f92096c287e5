// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/run/run.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <mutex>
#include <thread>
#include <unordered_map>

#include "tools/migrate/files/config.h"
#include "tools/migrate/files/output.h"
#include "tools/migrate/run/note.h"
#include "tools/migrate/run/notebook_result.h"
#include "tools/migrate/run/progress.h"

namespace npu::migrate {
namespace {

namespace fs = std::filesystem;

/// Gives the memory back, which `= {}` and clear() keep.
template <class Container>
void release(Container& container) {
  Container().swap(container);
}

class Run {
 public:
  Run(const Job& job, const RuleIndex& rules) : job_(job), rules_(rules), root_(root_of(job)), options_(job.options) {
    options_.whole = true;
    options_.alone = job.text || !fs::is_directory(job.input);
  }

  Outcome done() {
    find_files();
    make_output();
    migrate_python();
    if (job_.look_at_configs) migrate_configs();
    finish_output();
    for (FileResult& file : results_) out_.files.push_back(std::move(file));
    return std::move(out_);
  }

 private:
  size_t threads() const {
    return job_.threads != 0 ? job_.threads : std::max<size_t>(1, std::thread::hardware_concurrency());
  }
  bool writes() const { return !job_.output.empty(); }
  bool stopped() const { return stop_; }
  std::string from(const std::string& path) const { return root_ + "/" + path; }
  std::string to(const std::string& path) const {
    return job_.output + "/" + (job_.file_name.empty() ? path : job_.file_name);
  }

  static bool holds_python(const Entry& entry) {
    return entry.kind == Entry::Kind::kPython || entry.kind == Entry::Kind::kNotebook;
  }
  bool is_notebook(const std::string& path) const { return entries_[index_.at(path)].kind == Entry::Kind::kNotebook; }
  Source read(const std::string& path) const {
    return job_.text ? Source(path, *job_.text) : read_source(from(path), kLargestSource);
  }

  void find_files() {
    if (job_.text) {
      const bool notebook = Notebook::looks_like(*job_.text);
      entries_.push_back(
          {"<stdin>", notebook ? Entry::Kind::kNotebook : Entry::Kind::kPython, 0644, job_.text->size()});
    } else if (fs::is_directory(job_.input)) {
      Walked found = walk(job_.input);
      out_.failures = std::move(found.trouble);
      for (const std::string& each : found.foreign)
        out_.notes.push_back(fmt::format("{}/: holds installed packages; they are {}", each,
                                         writes() ? "copied and not migrated" : "not migrated"));
      entries_ = std::move(found.entries);
    } else {
      struct stat status {};
      stat(job_.input.c_str(), &status);
      const auto kind = Notebook::is_path(job_.input) ? Entry::Kind::kNotebook : Entry::Kind::kPython;
      entries_.push_back({fs::path(job_.input).filename(), kind, static_cast<mode_t>(status.st_mode & 0777U),
                          static_cast<uint64_t>(status.st_size)});
    }
    for (size_t i = 0; i < entries_.size(); ++i) {
      const Entry& entry = entries_[i];
      if (entry.kind == Entry::Kind::kSpecial)
        out_.notes.push_back(fmt::format("{}: no regular file (a pipe, socket or device), left out", entry.path));
      if (holds_python(entry)) index_[entry.path] = i;
    }
  }

  /// The work on one entry; what it raises is a row of the failures and ends no run, unless nothing more can work.
  template <class Body>
  bool attempt(const Body& body) {
    try {
      body();
      return true;
    } catch (const DiskFull& error) {
      if (!stop_.exchange(true)) fail(error.what());
    } catch (const std::exception& error) {
      fail(error.what());
    }
    return false;
  }

  void fail(std::string text) {
    const std::scoped_lock lock(mutex_);
    out_.failures.push_back(std::move(text));
  }

  void make_output() {
    if (!writes()) return;
    make_folders(job_.output);
    for (const Entry& entry : entries_) {
      if (stopped()) break;
      if (entry.kind == Entry::Kind::kFolder) attempt([&] { make_folders(to(entry.path)); });
      if (entry.kind == Entry::Kind::kLink) attempt([&] { copy_link(from(entry.path), to(entry.path)); });
    }
    in_parallel(entries_.size(), threads(), [&](size_t i) {
      const Entry& entry = entries_[i];
      const bool copied =
          entry.kind == Entry::Kind::kOther || (entry.kind == Entry::Kind::kConfig && !job_.change_configs);
      if (!copied || !attempt_or_count([&] { copy_file(from(entry.path), to(entry.path), entry.mode); })) return;
    });
  }

  template <class Body>
  bool attempt_or_count(const Body& body) {
    if (!stopped() && attempt(body)) return true;
    if (stopped()) ++unfinished_;
    return false;
  }

  void migrate_python() {
    std::vector<std::string> paths;
    for (const Entry& entry : entries_)
      if (holds_python(entry)) paths.push_back(entry.path);
    results_.resize(paths.size());
    for (size_t i = 0; i < paths.size(); ++i) order_[paths[i]] = i;
    Progress progress(paths.size());
    const auto load = [&](const std::string& path) {
      if (stopped()) throw Refusal("the run ended before this file");
      Source source = read(path);
      return is_notebook(path) ? Source(source.path(), Notebook(std::move(source)).python()) : source;
    };
    Batch batch(paths, load, rules_, options_);
    batch.run(threads(), [&](FileResult&& file) {
      progress.step();
      take(std::move(file));
    });
    if (stopped()) return;
    for (std::string& note : notes_of(results_, options_, rules_)) out_.notes.push_back(std::move(note));
  }

  void take(FileResult&& file) {
    const Entry& entry = entries_[index_.at(file.path)];
    const bool early = stopped();
    if (early) {
      FileResult nothing;
      nothing.path = std::move(file.path);
      file = std::move(nothing);
    }
    if (!early && entry.kind == Entry::Kind::kNotebook) take_notebook(file);
    put(entry, file);
    if (!early && job_.on_file) job_.on_file(file);
    if (!job_.keep_texts || file.lines.empty()) release(file.before);
    if (!(job_.keep_texts || job_.in_place) || file.lines.empty()) release(file.after);
    if (!job_.keep_uses) release(file.uses);
    release(file.remote);
    results_[order_.at(file.path)] = std::move(file);
  }

  void take_notebook(FileResult& file) {
    if (!file.failure.empty() && file.before.empty()) return;  // it could not be read
    const Notebook notebook(read(file.path));
    if (notebook.language() != "python")
      out_.notes.push_back(
          fmt::format("{}: its cells are no Python ({}); it is left as it is", file.path, notebook.language()));
    file = in_notebook(notebook, std::move(file));
  }

  void put(const Entry& entry, const FileResult& file) {
    if (!writes()) return;
    attempt_or_count([&] {
      if (file.changed())
        write_file(to(entry.path), file.after, entry.mode);
      else
        copy_file(from(entry.path), to(entry.path), entry.mode);
    });
  }

  void migrate_configs() {
    for (const Entry& entry : entries_) {
      if (entry.kind != Entry::Kind::kConfig || stopped()) continue;
      FileResult file;
      file.path = entry.path;
      attempt([&] {
        if (entry.size <= kLargestConfig)
          file = migrated_config(read_source(from(entry.path), kLargestConfig), entry.path, job_.change_configs);
      });
      if (job_.change_configs) put(entry, file);
      if (!file.changes.empty()) results_.push_back(std::move(file));
    }
  }

  void finish_output() {
    if (job_.in_place) replace_originals();
    // Only now: a folder that nobody may write to could not have been filled. Its owner may always take it away.
    for (const Entry& entry : entries_)
      if (writes() && entry.kind == Entry::Kind::kFolder) chmod(to(entry.path).c_str(), entry.mode | 0700U);
    out_.unfinished = unfinished_;
  }

  void replace_originals() {
    for (FileResult& file : results_) {
      if (file.lines.empty()) continue;
      struct stat status {};
      const std::string path = from(file.path);
      stat(path.c_str(), &status);
      attempt_or_count([&] {
        if (access(path.c_str(), W_OK) != 0)
          throw Refusal(fmt::format("{}: may not be written; chmod u+w it, or write a copy with -o", path));
        write_file(path, file.after, status.st_mode & 0777U);
      });
      if (!job_.keep_texts) release(file.before), release(file.after);
    }
  }

  const Job& job_;
  const RuleIndex& rules_;
  const std::string root_;
  Options options_;
  Outcome out_;
  std::vector<Entry> entries_;
  std::unordered_map<std::string, size_t> index_, order_;  // of Python files: in entries_, in results_
  std::vector<FileResult> results_;
  std::atomic<bool> stop_ = false;
  std::atomic<size_t> unfinished_ = 0;
  std::mutex mutex_;
};

}  // namespace

bool Outcome::failed() const {
  return !failures.empty() || unfinished > 0 ||
         std::ranges::any_of(files, [](const FileResult& file) { return !file.failure.empty(); });
}

size_t Outcome::changed_files() const {
  return static_cast<size_t>(std::ranges::count_if(files, [](const FileResult& file) { return !file.lines.empty(); }));
}

std::string root_of(const Job& job) {
  return fs::is_directory(job.input) ? job.input : fs::path(job.input).parent_path().string();
}

Outcome run(const Job& job, const RuleIndex& rules) { return Run(job, rules).done(); }

}  // namespace npu::migrate
