// SPDX-License-Identifier: Apache-2.0
// A window into the migration engine for tests and measurements; not installed.
//   probe tree FILE               the syntax tree
//   probe names FILE…             every name that is read: line, column (bytes, from 0), name, kind and line of the
//   scope
//                                 Python looks in, what the name may be
//   probe run ROOT FEATURES THREADS OUT <paths   migrates the files below ROOT under all built-in rules; a line of JSON
//                                 for each, and what changed as files below OUT ("" for none)
#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tools/migrate/names/evaluate.h"
#include "tools/migrate/rule/batch.h"
#include "tools/migrate/rule/built_in.h"

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

int run(const std::string& root, const std::string& features, size_t threads, const std::string& out) {
  std::vector<std::string> paths;
  for (std::string line; std::getline(std::cin, line);) paths.push_back(line);
  RuleBook book;
  for (const std::string_view name : built_in_names())
    if (name.ends_with(".yaml")) book.read(std::string(name), built_in(name));
  Options options;
  for (const std::string& name : split(features, ',')) options.features.insert(name);
  const RuleIndex index(book.active(options.features));
  const auto load = [&](const std::string& path) {
    Source read = read_source(root + "/" + path, kLimit);
    return Source(path, read.bytes());
  };
  const auto begin = std::chrono::steady_clock::now();
  double seconds = 0;
  {
    Batch batch(paths, load, index, options);
    batch.run(threads, [&](FileResult&& result) {
      if (!out.empty() && result.changed()) write(out + "/" + result.path, result.after);
      std::cout << told(result).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace) << '\n';
    });
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  std::cout << nlohmann::json({{"seconds", seconds}}).dump() << std::endl;
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
  if (words.size() == 6 && words[1] == "run") return run(words[2], words[3], std::stoul(words[4]), words[5]);
  fmt::print(stderr, "probe tree FILE | names FILE... | run ROOT FEATURES THREADS OUT <paths\n");
  return 2;
} catch (const std::exception& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 1;
}

}  // namespace
}  // namespace npu::migrate

int main(int count, char** words) { return npu::migrate::main({words, words + count}); }
