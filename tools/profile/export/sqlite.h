// SPDX-License-Identifier: Apache-2.0
// A file of SQLite that is written once, from nothing.
#pragma once

#include <sqlite3.h>

#include <memory>
#include <string_view>
#include <type_traits>

#include "tools/profile/output/draft.h"

namespace npu::profile {

/// Raises npu::Error where it cannot be written, which names the draft's path.
class Database {
 public:
  explicit Database(const Draft& draft);
  void run(const char* sql);

  /// Rows of one table, of which it has `columns`.
  class Rows {
   public:
    Rows(Database& database, const char* table, int columns);
    /// One value a column, numbers and texts; nullptr is what nobody has measured.
    template <class... Values>
    void add(const Values&... values) {
      int column = 0;
      (bind(++column, values), ...);
      step();
    }

   private:
    template <class Whole>
      requires(std::is_integral_v<Whole> || std::is_enum_v<Whole>)
    void bind(int column, Whole value) {
      database_.check(sqlite3_bind_int64(statement_.get(), column, static_cast<int64_t>(value)));
    }
    void bind(int column, double value) { database_.check(sqlite3_bind_double(statement_.get(), column, value)); }
    void bind(int column, std::nullptr_t) { database_.check(sqlite3_bind_null(statement_.get(), column)); }
    /// The text stays where it is until the row is added.
    void bind(int column, std::string_view text) {
      database_.check(
          sqlite3_bind_text(statement_.get(), column, text.data(), static_cast<int>(text.size()), SQLITE_STATIC));
    }
    void step();

    struct Finalize {
      void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
    };
    Database& database_;
    std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  };

 private:
  void check(int code) const {
    if (code != SQLITE_OK) failed(code);
  }
  [[noreturn]] void failed(int code) const;

  struct Close {
    void operator()(sqlite3* handle) const { sqlite3_close(handle); }
  };
  const std::filesystem::path path_;
  std::unique_ptr<sqlite3, Close> handle_;
};

}  // namespace npu::profile
