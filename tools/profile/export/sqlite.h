// SPDX-License-Identifier: Apache-2.0
// A file of SQLite that is written once, from nothing.
#pragma once

#include <sqlite3.h>

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "tools/profile/output/draft.h"

namespace npu::profile {

/// Raises npu::Error where it cannot be written, which names the draft's path.
class Database {
 public:
  explicit Database(const Draft& draft);
  void run(const std::string& sql);

  /// Rows of one table; `row` is SQL with a question mark for each value that comes with add(). They go to SQLite many
  /// at a time, what takes half as long as one by one; the last of them with finish().
  class Rows {
   public:
    Rows(Database& database, const char* table, std::string_view row);
    /// Numbers and texts; nullptr is what nobody has measured.
    template <class... Values>
    void add(const Values&... values) {
      (values_.push_back(value(values)), ...);
      if (values_.size() == kMany * width_) flush(many_.get());
    }
    void finish();

   private:
    using Value = std::variant<int64_t, double, std::nullptr_t, std::string_view>;
    struct Finalize {
      void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
    };
    using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;
    static constexpr size_t kMany = 64;

    template <class Whole>
      requires(std::is_integral_v<Whole> || std::is_enum_v<Whole>)
    static Value value(Whole number) {
      return static_cast<int64_t>(number);
    }
    static Value value(double number) { return number; }
    static Value value(std::nullptr_t) { return nullptr; }
    Value value(std::string_view text) { return texts_.emplace_back(text); }
    Statement prepared(size_t rows) const;
    void flush(sqlite3_stmt* statement);

    Database& database_;
    const std::string table_, row_;
    const size_t width_;
    std::vector<Value> values_;
    std::deque<std::string> texts_;  ///< of the values
    const Statement many_;
  };

 private:
  void check(int code) const {
    if (code != SQLITE_OK) failed(code);
  }
  [[noreturn]] void failed(int code) const;

  struct Close {
    void operator()(sqlite3* handle) const { sqlite3_close(handle); }
  };
  const std::filesystem::path path_, part_;
  std::unique_ptr<sqlite3, Close> handle_;
};

}  // namespace npu::profile
