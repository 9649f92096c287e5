// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/rule/pending.h"

#include <fmt/format.h>

#include <cctype>

#include "tools/migrate/text/built_in.h"

namespace npu::migrate {
namespace {

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

/// Whether `name` stands in `text`, not as a part of a longer word.
bool holds(std::string_view text, std::string_view name) {
  for (size_t at = text.find(name); at != text.npos; at = text.find(name, at + 1)) {
    const size_t end = at + name.size();
    if ((at == 0 || !in_word(text[at - 1])) && (end == text.size() || !in_word(text[end]))) return true;
  }
  return false;
}

}  // namespace

PendingNames::PendingNames(std::string_view table) {
  while (!table.empty()) {
    const size_t end = std::min(table.find('\n'), table.size());
    const std::string_view line = table.substr(0, end);
    const size_t tab = std::min(line.find('\t'), line.size());
    if (!line.empty() && !line.starts_with('#'))
      names_.emplace(line.substr(0, tab), line.substr(std::min(tab + 1, line.size())));
    table.remove_prefix(std::min(end + 1, table.size()));
  }
}

std::vector<std::string> PendingNames::in(std::string_view text) const {
  std::vector<std::string> out;
  for (const auto& [name, what] : names_)
    if (holds(text, name)) out.push_back(name);
  return out;
}

void PendingNames::warn(std::string_view text, std::string& message) const {
  for (const std::string& name : in(text)) {
    if (message.find("`" + name + "`") != message.npos) continue;
    if (!message.empty()) message += "; ";
    message += fmt::format("this release of npu_device has no `{}` yet: training stops there", name);
  }
}

const PendingNames& pending_names() {
  static const PendingNames made(built_in("pending.tsv"));
  return made;
}

}  // namespace npu::migrate
