// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/face/usage.h"

#include <fmt/format.h>

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <filesystem>
#include <iostream>

namespace npu::migrate {

namespace fs = std::filesystem;

std::optional<int> read_arguments(CLI::App& app, std::vector<std::string> arguments) {
  std::ranges::reverse(arguments);  // as CLI11 wants them
  try {
    app.parse(arguments);
    return {};
  } catch (const CLI::Success& done) {
    return app.exit(done);
  } catch (const CLI::ParseError& mistake) {
    std::cerr << app.get_name() << ": " << mistake.what() << "; " << app.get_name() << " -h tells the options\n";
    return 2;
  }
}

std::string absolute(const std::string& path) {
  std::error_code trouble;
  fs::path out = fs::weakly_canonical(fs::absolute(path), trouble);
  if (trouble) out = fs::absolute(path, trouble);
  if (!out.has_filename()) out = out.parent_path();
  return out;
}

std::string existing_input(const std::string& path, const char* option) {
  std::error_code trouble;
  const fs::path out = fs::canonical(path, trouble);
  if (trouble)
    throw UsageError(fmt::format("{} {}: {}; give the folder or file to migrate", option, path, trouble.message()));
  if (!fs::is_directory(out) && !fs::is_regular_file(out))
    throw UsageError(fmt::format("{} {}: is neither a folder nor a regular file", option, path));
  return out;
}

void refuse_below_input(const std::string& path, const std::string& input, const char* option) {
  const std::string folder = fs::is_directory(input) ? input : fs::path(input).parent_path().string();
  const bool is_input = path == input || (path == folder && fs::is_directory(input));
  const bool below = fs::is_directory(input) && (path + "/").starts_with(folder == "/" ? "/" : folder + "/");
  if (is_input || below)
    throw UsageError(fmt::format("{} {}: lies in the input {}; choose a place outside it", option, path, input));
}

void refuse_existing(const std::string& path, const char* option) {
  if (fs::exists(fs::symlink_status(path)))
    throw UsageError(fmt::format("{} is there already; take it away, or choose another place with {}", path, option));
}

std::string entry_file(const std::string& path, const Job& job, const char* option) {
  const std::string root = root_of(job);
  std::string full = path;
  if (!fs::exists(full) && fs::path(path).is_relative()) full = root + "/" + path;  // as the guides name it
  std::error_code trouble;
  full = fs::canonical(full, trouble);
  if (trouble || !fs::is_regular_file(full))
    throw UsageError(
        fmt::format("{} {}: there is no such file; give the script that Python is started with", option, path));
  const bool inside = fs::is_directory(job.input) ? full.starts_with(root + "/") : full == job.input;
  if (!inside) throw UsageError(fmt::format("{} {}: does not lie in the input {}", option, path, job.input));
  if (!full.ends_with(".py")) throw UsageError(fmt::format("{} {}: is no *.py file", option, path));
  return full.substr(root.size() + 1);
}

RuleBook rule_book(const std::vector<std::string>& files, const std::vector<std::string>& off) {
  RuleBook out = RuleBook::built_in();
  constexpr size_t kLargest = size_t{16} << 20;
  try {
    for (const std::string& file : files) {
      const Source text = read_source(file, kLargest);
      if (file.ends_with(".json"))
        out.read_vendor(file, text.bytes());
      else
        out.read(file, text.bytes());
    }
    for (const std::string& id : off) out.turn_off(id);
  } catch (const Refusal& refusal) {
    throw UsageError(refusal.what());
  }
  return out;
}

std::string counted(size_t count, const std::string& noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string stem(const std::string& path) {
  const std::string name = fs::path(path).filename();
  for (const std::string_view suffix : {".py", ".ipynb"})
    if (name.ends_with(suffix)) return name.substr(0, name.size() - suffix.size());
  return name;
}

int closing(const Outcome& outcome, const char* program) {
  for (const std::string& failure : outcome.failures) std::cerr << program << ": " << failure << '\n';
  for (const FileResult& file : outcome.files)
    if (!file.failure.empty()) std::cerr << program << ": " << file.failure << '\n';
  if (outcome.unfinished > 0)
    std::cerr << program << ": " << counted(outcome.unfinished, "file")
              << " not written; those that were are complete, and nothing of the input has changed beyond them\n";
  std::cerr.flush();
  return outcome.failed() ? 1 : 0;
}

}  // namespace npu::migrate
