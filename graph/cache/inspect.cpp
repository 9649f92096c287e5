// SPDX-License-Identifier: Apache-2.0
#include "graph/cache/inspect.h"

#include <algorithm>
#include <chrono>

#include "base/error.h"
#include "base/json.h"
#include "graph/cache/folder.h"
#include "graph/cache/kept_function.h"
#include "graph/model/digest.h"

namespace npu::graph::cache {
namespace {

void describe(EntryFacts& facts, const std::string& description) {
  const auto told = Json::try_parse(description).value_or(nullptr);
  if (!told.is_object()) return;
  facts.function = told.value("function", "");
  facts.made = told.value("made", "");
  facts.nodes = told.value("nodes", int64_t{0});
  facts.compile_ms = told.value("compile_ms", 0.0);
}

std::string problem_of(const std::string& bytes, const std::string& key, const Dialect& dialect) {
  try {
    const auto content = std::as_bytes(std::span(bytes));
    const std::string text = key_of_bytes(content);
    if (model::digest_of(text).text() != key) return "it was kept under another key";
    from_bytes(content, text, dialect);
    return "";
  } catch (const Error& e) {
    return e.message();
  }
}

}  // namespace

std::vector<EntryFacts> inspect(const std::filesystem::path& place, const Dialect& dialect) {
  const Folder folder(place);
  const auto now = std::filesystem::file_time_type::clock::now();
  std::vector<EntryFacts> out;
  for (const Folder::Entry& entry : folder.entries()) {
    EntryFacts facts;
    facts.key = entry.file.stem().string();
    facts.bytes = entry.bytes;
    facts.used_seconds = std::chrono::duration_cast<std::chrono::seconds>(now - entry.used).count();
    const std::optional<std::string> bytes = Folder::read(entry.file);
    if (!bytes) continue;  // gone meanwhile
    if (const auto description = Folder::read(Folder::description_of(entry.file))) {
      try {
        describe(facts, *description);
      } catch (const JsonError&) {
        facts.function.clear();  // of another form: it serves people only
      }
    }
    facts.problem = problem_of(*bytes, facts.key, dialect);
    out.push_back(std::move(facts));
  }
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.used_seconds < b.used_seconds; });
  return out;
}

}  // namespace npu::graph::cache
