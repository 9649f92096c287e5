// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/export/sqlite.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "base/error.h"

namespace npu::profile {
namespace {

/// Why a file cannot be written, or not be made longer. SQLite has lost errno when it tells of an error, so the same is
/// tried again.
int reason_for(const std::filesystem::path& path) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (file < 0) return errno;
  constexpr off_t kMore = 1 << 20;
  const int reason = posix_fallocate(file, lseek(file, 0, SEEK_END), kMore);
  close(file);
  return reason == 0 ? EIO : reason;
}

}  // namespace

Database::Database(const Draft& draft) : path_(draft.path()), part_(draft.part()) {
  // What locks guard here is one thread's; a count of SQLite's memory would be another lock.
  [[maybe_unused]] static const int configured =
      sqlite3_config(SQLITE_CONFIG_MULTITHREAD) | sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  sqlite3* opened = nullptr;
  const int code = sqlite3_open_v2(draft.part().c_str(), &opened,
                                   SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
  handle_.reset(opened);
  check(code);
  // A draft that its writer does not live to keep is worth nothing: no journal, and nobody waits for the disk.
  run("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;"
      "PRAGMA page_size = 16384; PRAGMA cache_size = -65536; PRAGMA threads = 2");
}

void Database::run(const std::string& sql) {
  check(sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr));
}

void Database::failed(int code) const {
  const int kind = code & 0xff;
  if (kind == SQLITE_FULL || kind == SQLITE_IOERR || kind == SQLITE_CANTOPEN) cannot_write(path_, reason_for(part_));
  fail(Code::kInternal, "{} could not be written: {}", path_.string(),
       handle_ ? sqlite3_errmsg(handle_.get()) : sqlite3_errstr(code));
}

Database::Rows::Rows(Database& database, const char* table, std::string_view row)
    : database_(database),
      table_(table),
      row_(fmt::format("({})", row)),
      width_(static_cast<size_t>(std::ranges::count(row, '?'))),
      many_(prepared(kMany)) {
  values_.reserve(kMany * width_);
}

Database::Rows::Statement Database::Rows::prepared(size_t rows) const {
  std::string sql = fmt::format("INSERT INTO {} VALUES{}", table_, row_);
  for (size_t i = 1; i < rows; ++i) sql += "," + row_;
  sqlite3_stmt* made = nullptr;
  database_.check(sqlite3_prepare_v2(database_.handle_.get(), sql.c_str(), -1, &made, nullptr));
  return Statement(made);
}

void Database::Rows::finish() {
  if (!values_.empty()) flush(prepared(values_.size() / width_).get());
}

void Database::Rows::flush(sqlite3_stmt* statement) {
  struct Bind {
    sqlite3_stmt* to;
    int place = 0;
    int operator()(int64_t value) { return sqlite3_bind_int64(to, ++place, value); }
    int operator()(double value) { return sqlite3_bind_double(to, ++place, value); }
    int operator()(std::nullptr_t) { return sqlite3_bind_null(to, ++place); }
    int operator()(std::string_view text) {
      return sqlite3_bind_text(to, ++place, text.data(), static_cast<int>(text.size()), SQLITE_STATIC);
    }
  } bind{statement};
  for (const Value& value : values_) database_.check(std::visit(bind, value));
  const int code = sqlite3_step(statement);
  if (code != SQLITE_DONE) database_.failed(code);
  sqlite3_reset(statement);
  values_.clear();
  texts_.clear();
}

}  // namespace npu::profile
