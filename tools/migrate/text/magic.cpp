// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/text/magic.h"

#include <algorithm>
#include <array>

namespace npu::migrate {
namespace {

constexpr std::string_view kBlanks = " \t\f";

std::string_view trimmed(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
  while (!line.empty() && std::string_view(" \t\f\r\n").find(line.back()) != std::string_view::npos)
    line.remove_suffix(1);
  return line;
}

std::string_view indent(std::string_view line) {
  return line.substr(0, std::min(line.find_first_not_of(kBlanks), line.size()));
}

/// Reads Python as far as it takes to know where a statement begins: brackets, texts, comments, lines that go on.
class Lexer {
 public:
  /// Whether a statement begins at the next line.
  bool at_statement() const { return depth_ == 0 && quote_.empty() && !goes_on_; }
  bool open() const { return depth_ != 0 || !quote_.empty() || goes_on_; }

  void read(std::string_view line) {
    goes_on_ = false;
    for (size_t i = 0; i < line.size();) i += quote_.empty() ? code(line, i) : text(line, i);
    if (quote_.size() == 1 && !goes_on_) quote_.clear();  // it was never closed: no Python, and not the next line's
  }

 private:
  size_t code(std::string_view line, size_t i) {
    const char c = line[i];
    if (c == '#') return line.size() - i;
    if (c == '"' || c == '\'') {
      const bool three = line.substr(i).starts_with(std::string(3, c));
      quote_ = line.substr(i, three ? 3 : 1);
      return quote_.size();
    }
    if (c == '(' || c == '[' || c == '{') ++depth_;
    if (c == ')' || c == ']' || c == '}') --depth_;
    if (c == '\\') goes_on_ = trimmed(line.substr(i)) == "\\";
    return 1;
  }

  size_t text(std::string_view line, size_t i) {
    if (line[i] == '\\') {
      goes_on_ = i + 1 < line.size() && (line[i + 1] == '\n' || line[i + 1] == '\r');
      return std::min<size_t>(2, line.size() - i);
    }
    if (!line.substr(i).starts_with(quote_)) return 1;
    const size_t length = quote_.size();
    quote_.clear();
    return length;
  }

  int depth_ = 0;
  std::string quote_;
  bool goes_on_ = false;
};

/// The `=` of `x = !ls` and `x = %magic`; npos where the line has none.
size_t assigned_magic(std::string_view line) {
  const size_t at = line.find('=');
  if (at == line.npos || at == 0 || line.substr(0, at).find_first_of("#\"'(") != line.npos) return line.npos;
  if (std::string_view("=!<>%+-*/|&^:@~").find(line[at - 1]) != std::string_view::npos) return line.npos;
  const std::string_view value = trimmed(line.substr(at + 1));
  return value.starts_with('!') || value.starts_with('%') ? at : line.npos;
}

/// `name?`, `name??`: a question for its documentation.
bool asks(std::string_view line) { return trimmed(line).ends_with('?') && line.find_first_of("#\"'") == line.npos; }

bool is_magic(std::string_view line) {
  const std::string_view text = trimmed(line);
  return !text.empty() && (std::string_view("%!?/,;").find(text[0]) != std::string_view::npos || asks(line));
}

/// %%time and the like: what follows is Python. Of others it is a shell's, a page's, a file's.
bool keeps_python(std::string_view first) {
  static constexpr std::array<std::string_view, 8> kNames = {"time",   "timeit",  "capture", "prun",
                                                             "python", "python3", "debug",   "memit"};
  const std::string_view name = first.substr(2, std::min(first.find_first_of(" \t"), first.size()) - 2);
  return std::ranges::find(kNames, name) != kNames.end();
}

std::string stand_in(std::string_view line) {
  const std::string blanks(indent(line));
  return blanks + (blanks.empty() ? "#" : "pass #");
}

bool continues(std::string_view line) { return trimmed(line).ends_with('\\'); }

}  // namespace

std::optional<std::vector<std::string>> stand_ins(const std::vector<std::string_view>& lines) {
  std::vector<std::string> out(lines.size());
  const auto first = std::ranges::find_if(lines, [](std::string_view line) { return !trimmed(line).empty(); });
  auto i = static_cast<size_t>(first - lines.begin());
  if (i < lines.size() && trimmed(lines[i]).starts_with("%%")) {
    out[i] = "#";
    if (!keeps_python(trimmed(lines[i]))) return std::vector<std::string>(lines.size(), "#");
    ++i;
  }
  Lexer lexer;
  for (; i < lines.size(); ++i) {
    if (!lexer.at_statement() || (!is_magic(lines[i]) && assigned_magic(lines[i]) == std::string_view::npos)) {
      lexer.read(lines[i]);
      continue;
    }
    const size_t assigned = is_magic(lines[i]) ? std::string_view::npos : assigned_magic(lines[i]);
    out[i] = assigned == std::string_view::npos ? stand_in(lines[i])
                                                : std::string(lines[i].substr(0, assigned)) + "= None #";
    while (continues(lines[i]) && i + 1 < lines.size()) out[++i] = "#";
  }
  if (lexer.open()) return {};
  return out;
}

}  // namespace npu::migrate
