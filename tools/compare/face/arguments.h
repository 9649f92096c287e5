// SPDX-License-Identifier: Apache-2.0
// Command lines as Python's argparse reads them: words of one dash that are longer than a letter are options, too.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace npu::compare {

/// A command line that is none; the text says why. Its exit code is 2, as argparse has it.
struct UsageError {
  std::string text;
};

class Arguments {
 public:
  /// `names`: "-m --my_dump_path". What is given more than once counts as given last.
  void value(std::string_view names, std::string& into, std::string_view help, bool required = false);
  void flag(std::string_view names, bool& into, std::string_view help);
  void number(std::string_view names, int64_t& into, std::string_view help);
  /// All words up to the next option.
  void words(std::string_view names, std::vector<std::string>& into, std::string_view help);

  /// False where help was asked for, which is then printed.
  bool read(const std::vector<std::string>& given, std::string_view program) const;

 private:
  struct Option {
    std::vector<std::string> names;
    std::string help;
    bool required, takes_value, takes_words;
    std::function<void(const std::string&)> set;
  };
  void add(std::string_view names, std::string_view help, bool required, bool takes_value,
           std::function<void(const std::string&)> set);
  const Option& find(const std::string& name) const;
  std::string usage(std::string_view program) const;
  std::vector<Option> options_;
};

/// A whole number; UsageError with the option's name for anything else.
int64_t to_number(const std::string& text, std::string_view option);

}  // namespace npu::compare
