// SPDX-License-Identifier: Apache-2.0
#include "tools/compare/face/arguments.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <set>

namespace npu::compare {
namespace {

std::vector<std::string> split(std::string_view names) {
  std::vector<std::string> found;
  for (size_t at = 0; at < names.size();) {
    const size_t end = std::min(names.find(' ', at), names.size());
    found.emplace_back(names.substr(at, end - at));
    at = end + 1;
  }
  return found;
}

bool is_option(const std::string& word) {
  return word.size() > 1 && word[0] == '-' && (word[1] < '0' || word[1] > '9');
}

}  // namespace

void Arguments::add(std::string_view names, std::string_view help, bool required, bool takes_value,
                    std::function<void(const std::string&)> set) {
  options_.push_back({split(names), std::string(help), required, takes_value, false, std::move(set)});
}

void Arguments::value(std::string_view names, std::string& into, std::string_view help, bool required) {
  add(names, help, required, true, [&into](const std::string& text) { into = text; });
}

void Arguments::flag(std::string_view names, bool& into, std::string_view help) {
  add(names, help, false, false, [&into](const std::string&) { into = true; });
}

void Arguments::number(std::string_view names, int64_t& into, std::string_view help) {
  const std::string name(names.substr(0, names.find(' ')));
  add(names, help, false, true, [&into, name](const std::string& text) { into = to_number(text, name); });
}

void Arguments::words(std::string_view names, std::vector<std::string>& into, std::string_view help) {
  add(names, help, false, true, [&into](const std::string& text) { into.push_back(text); });
  options_.back().takes_words = true;
}

const Arguments::Option& Arguments::find(const std::string& name) const {
  for (const Option& option : options_)
    if (std::ranges::find(option.names, name) != option.names.end()) return option;
  throw UsageError{fmt::format("unrecognized arguments: {}", name)};
}

bool Arguments::read(const std::vector<std::string>& given, std::string_view program) const {
  std::set<const Option*> seen;
  for (size_t i = 0; i < given.size(); ++i) {
    if (given[i] == "-h" || given[i] == "--help") return fmt::print("{}", usage(program)), false;
    const size_t equals = given[i].starts_with("--") ? given[i].find('=') : std::string::npos;
    const Option& option = find(given[i].substr(0, equals));
    seen.insert(&option);
    if (!option.takes_value) {
      option.set("");
      continue;
    }
    if (equals != std::string::npos) {
      option.set(given[i].substr(equals + 1));
      continue;
    }
    if (i + 1 == given.size() || is_option(given[i + 1]))
      throw UsageError{fmt::format("argument {}: expected one argument", fmt::join(option.names, "/"))};
    do option.set(given[++i]);
    while (option.takes_words && i + 1 < given.size() && !is_option(given[i + 1]));
  }
  for (const Option& option : options_)
    if (option.required && !seen.contains(&option))
      throw UsageError{fmt::format("the following arguments are required: {}", fmt::join(option.names, "/"))};
  return true;
}

std::string Arguments::usage(std::string_view program) const {
  std::string text = fmt::format("usage: {} [options]\n\n", program);
  for (const Option& option : options_)
    text += fmt::format("  {}\n        {}\n", fmt::join(option.names, ", "), option.help);
  return text;
}

int64_t to_number(const std::string& text, std::string_view option) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size())
    throw UsageError{fmt::format("argument {}: invalid int value: '{}'", option, text)};
  return number;
}

}  // namespace npu::compare
