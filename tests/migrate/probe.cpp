// SPDX-License-Identifier: Apache-2.0
// A window into the migration engine for tests and measurements; not installed.
//   probe tree FILE               the syntax tree
//   probe names FILE…             every name that is read: line, column (bytes, from 0), name, kind and line of the
//   scope
//                                 Python looks in, what the name may be
//   probe run ROOT FEATURES THREADS OUT MAIN <paths   migrates the files below ROOT under all built-in rules; a line of
//                                 JSON for each, and what changed as files below OUT ("" for none); MAIN: the file the
//                                 program begins in ("" for none)
//   probe modes ROOT THREADS OUT FEATURES… <paths   the same for several sets of features, reading all files once: the
//                                 lines in OUT/<number>.jsonl, what changed below OUT/<number>; and the lines of a
//                                 second run, over what came out, in OUT/<number>_again.jsonl. A number is told when
//                                 its files are there
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>

#include "tools/migrate/migration/batch.h"
#include "tools/migrate/names/evaluate.h"
#include "tools/migrate/text/built_in.h"

namespace npu::migrate {
namespace {

constexpr size_t kLimit = 64u << 20;

std::vector<std::string> split(const std::string& text, char by) {
  std::vector<std::string> out;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, by);) out.push_back(part);
  return out;
}

void print_tree(const std::string& path) {
  const Source source = read_source(path, kLimit);
  const Tree tree(source);
  std::vector<uint32_t> past;
  for (uint32_t i = 0; i < tree.size(); ++i) {
    while (!past.empty() && past.back() <= i) past.pop_back();
    const Node node = tree.node(i);
    const bool leaf = node.past() == i + 1;
    fmt::print("{:{}}{} kind {} field {} {}\n", "", 2 * past.size(), i, static_cast<int>(node.kind()),
               static_cast<int>(node.field()), leaf ? std::string(node.text()) : std::string());
    past.push_back(node.past());
  }
}

const char* scope_name(Node scope) {
  switch (scope.kind()) {
    case Kind::k_module: return "module";
    case Kind::k_class_definition: return "class";
    case Kind::k_function_definition: return "function";
    case Kind::k_lambda: return "lambda";
    default: return "comprehension";
  }
}

void print_names(const std::string& path) {
  const Source source = read_source(path, kLimit);
  const Tree tree(source);
  const Project project({"a.py"});
  Evaluator names(tree, project, "a.py", 0, true);
  for (uint32_t i = 0; i < tree.size(); ++i) {
    const Node node = tree.node(i);
    if (!node.is(Kind::k_identifier)) continue;
    const Node scope = names.table().holder(node.text(), node);
    fmt::print("{}\t{}\t{}\t{}\t{}\t{}\n", node.line(), node.begin() - source.line_begin(node.line()), node.text(),
               scope_name(scope), scope.is(Kind::k_module) ? 0 : scope.line(), names.of(node).spelled());
  }
}

nlohmann::json told(const FileResult& result) {
  nlohmann::json rows = nlohmann::json::array();
  for (const Change& row : result.changes)
    rows.push_back({{"rule", row.rule},
                    {"line", row.line},
                    {"last_line", row.last_line},
                    {"report", row.report},
                    {"message", row.message},
                    {"insert", row.kind == Change::Kind::kInsert}});
  return {{"path", result.path},
          {"failure", result.failure},
          {"rows", rows},
          {"uses", result.uses.size()},
          {"changed", result.changed()}};
}

void write(const std::string& path, const std::string& bytes) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}

std::vector<std::string> paths_of_stdin() {
  std::vector<std::string> out;
  for (std::string line; std::getline(std::cin, line);) out.push_back(line);
  return out;
}

/// A project below a folder, some of its files elsewhere.
class Run {
 public:
  Run(std::string root, std::vector<std::string> paths)
      : paths_(std::move(paths)),
        folders_(paths_.size(), root),
        book_(RuleBook::built_in()),
        index_(book_.active({})),
        batch_(paths_, [this](const std::string& path) { return load(path); }, index_, options_) {}

  void choose(const std::string& features, const std::string& main_file) {
    for (const std::string& name : split(features, ',')) options_.features.insert(name);
    options_.main = main_file;
    options_.whole = true;
    index_ = RuleIndex(book_.active(options_.features));
    begin_ = Clock::now() - gathering_;  // this run's share of what serves several
  }
  void gather(size_t threads) {
    std::vector<size_t> all(paths_.size());
    std::iota(all.begin(), all.end(), size_t{0});
    batch_.gather(all, threads);
    gathering_ = Clock::now() - begin_;
  }
  /// Takes those files that `folder` has from there.
  void replace(const std::string& folder, size_t threads) {
    std::vector<size_t> changed;
    for (size_t i = 0; i < paths_.size(); ++i)
      if (std::filesystem::exists(folder + "/" + paths_[i])) folders_[i] = folder, changed.push_back(i);
    batch_.gather(changed, threads);
  }
  void migrate(size_t threads, const std::string& out, std::ostream& lines) {
    batch_.migrate(threads, [&](FileResult&& result) {
      if (!out.empty() && result.changed()) write(out + "/" + result.path, result.after);
      lines << told(result).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace) << '\n';
    });
    const std::chrono::duration<double> seconds = Clock::now() - begin_;
    lines << nlohmann::json({{"seconds", seconds.count()}}).dump() << std::endl;
  }

 private:
  Source load(const std::string& path) const {
    const auto at = static_cast<size_t>(std::ranges::lower_bound(paths_, path) - paths_.begin());
    Source read = read_source(folders_[at] + "/" + path, kLimit);
    return Source(path, read.bytes());
  }

  using Clock = std::chrono::steady_clock;
  Clock::time_point begin_ = Clock::now();
  Clock::duration gathering_{};
  std::vector<std::string> paths_, folders_;  // the paths in their order
  RuleBook book_;
  Options options_;
  RuleIndex index_;
  Batch batch_;
};

int run(const std::vector<std::string>& words) {
  std::vector<std::string> paths = paths_of_stdin();
  std::ranges::sort(paths);
  Run run(words[2], paths);
  const size_t threads = std::stoul(words[4]);
  run.gather(threads);
  run.choose(words[3], words[6]);
  run.migrate(threads, words[5], std::cout);
  return 0;
}

/// Runs `body` in a process of its own, that what is known here stays as it is; whether it came to its end.
bool apart(const std::function<void()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    body();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int modes(const std::vector<std::string>& words) {
  std::vector<std::string> paths = paths_of_stdin();
  std::ranges::sort(paths);
  const size_t threads = std::stoul(words[3]);
  Run run(words[2], paths);
  run.gather(threads);
  for (size_t i = 5; i < words.size(); ++i) {
    const std::string out = fmt::format("{}/{}", words[4], i - 5);
    std::filesystem::create_directories(out);
    const bool first = apart([&] {
      run.choose(words[i], "");
      std::ofstream lines(out + ".jsonl");
      run.migrate(threads, out, lines);
    });
    const bool second = first && apart([&] {
                          run.choose(words[i], "");
                          run.replace(out, threads);
                          std::ofstream lines(out + "_again.jsonl");
                          run.migrate(threads, "", lines);
                        });
    fmt::print("{}\n", i - 5);
    std::fflush(stdout);
    if (!second) fmt::print(stderr, "{}: the {} run broke down\n", words[i], first ? "second" : "first");
  }
  return 0;
}

int main(const std::vector<std::string>& words) try {
  if (words.size() > 2 && words[1] == "tree") return print_tree(words[2]), 0;
  if (words.size() > 2 && words[1] == "names") {
    for (size_t i = 2; i < words.size(); ++i) {
      fmt::print("FILE\t{}\n", words[i]);
      print_names(words[i]);
    }
    return 0;
  }
  if (words.size() == 7 && words[1] == "run") return run(words);
  if (words.size() > 5 && words[1] == "modes") return modes(words);
  fmt::print(stderr,
             "probe tree FILE | names FILE... | run ROOT FEATURES THREADS OUT MAIN <paths | modes ROOT THREADS OUT "
             "FEATURES... <paths\n");
  return 2;
} catch (const std::exception& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 1;
}

}  // namespace
}  // namespace npu::migrate

int main(int count, char** words) { return npu::migrate::main({words, words + count}); }
