// SPDX-License-Identifier: Apache-2.0
// What the command lines have in common.
#pragma once

#include <CLI/App.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tools/migrate/rule/rule.h"
#include "tools/migrate/run/run.h"

namespace npu::migrate {

/// A command line that makes no sense; exit code 2.
class UsageError : public Refusal {
  using Refusal::Refusal;
};

/// Reads the arguments; help and mistakes are printed, and the exit code comes back.
std::optional<int> read_arguments(CLI::App& app, std::vector<std::string> arguments);

/// The input as an absolute path without links. Raises UsageError where there is none.
std::string existing_input(const std::string& path, const char* option);
/// An absolute path without links, for what need not be there yet.
std::string absolute(const std::string& path);
/// Raises UsageError where `path` is the input or lies below it.
void refuse_below_input(const std::string& path, const std::string& input, const char* option);
/// Raises UsageError where something is there already: it may have been worked on since.
void refuse_existing(const std::string& path, const char* option);
/// The entry file as a path below the input's root. Raises UsageError where it is not there or elsewhere.
std::string entry_file(const std::string& path, const Job& job, const char* option);

/// The tool's rules and the user's (*.json is the vendor's form), without those turned off.
RuleBook rule_book(const std::vector<std::string>& files, const std::vector<std::string>& off);

/// "1 place", "2 places".
std::string counted(size_t count, const std::string& noun);

/// Name of a file without .py or .ipynb, or of a folder.
std::string stem(const std::string& path);

/// Prints failures (of files, too) and what ended the run to stderr; gives the exit code.
int closing(const Outcome& outcome, const char* program);

}  // namespace npu::migrate
