// SPDX-License-Identifier: Apache-2.0
// For tests: one text under rules that are given as text.
#pragma once

#include <string>

#include "tools/migrate/migration/batch.h"

namespace npu::migrate {

inline FileResult migrated(const std::string& rules, const std::string& text) {
  RuleBook book;
  book.read("test.yaml", "rules:\n" + rules);
  const Options options;
  const RuleIndex index(book.active({}));
  FileResult result;
  Batch batch({"a.py"}, [&](const std::string& path) { return Source(path, text); }, index, options);
  batch.run(1, [&](FileResult&& file) { result = std::move(file); });
  return result;
}

}  // namespace npu::migrate
