// SPDX-License-Identifier: Apache-2.0
// Looks into what was written as SQLite.
#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <string>
#include <vector>

namespace npu::profile {

using Rows = std::vector<std::string>;

/// What a query finds, the values of a row beside each other.
inline Rows rows(const std::filesystem::path& file, const char* sql) {
  sqlite3* opened = nullptr;
  EXPECT_EQ(sqlite3_open(file.c_str(), &opened), SQLITE_OK);
  Rows found;
  const auto add = [](void* all, int columns, char** values, char**) {
    std::string row;
    for (int i = 0; i < columns; ++i)
      row += (i > 0 ? " " : "") + std::string(values[i] == nullptr ? "null" : values[i]);
    static_cast<Rows*>(all)->push_back(row);
    return 0;
  };
  EXPECT_EQ(sqlite3_exec(opened, sql, add, &found, nullptr), SQLITE_OK) << sql;
  sqlite3_close(opened);
  return found;
}

}  // namespace npu::profile
