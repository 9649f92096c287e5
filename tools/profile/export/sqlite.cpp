// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/export/sqlite.h"

#include <cerrno>
#include <string>

#include "base/error.h"

namespace npu::profile {

Database::Database(const Draft& draft) : path_(draft.path()) {
  sqlite3* opened = nullptr;
  const int code = sqlite3_open(draft.part().c_str(), &opened);
  handle_.reset(opened);
  check(code);
  // A draft that its writer does not live to keep is worth nothing: no journal, and nobody waits for the disk.
  run("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF");
}

void Database::run(const char* sql) { check(sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr)); }

void Database::failed(int code) const {
  const int reason = handle_ ? sqlite3_system_errno(handle_.get()) : 0;
  if (code == SQLITE_FULL) cannot_write(path_, ENOSPC);
  if (reason != 0) cannot_write(path_, reason);
  fail(Code::kInternal, "{} could not be written: {}", path_.string(),
       handle_ ? sqlite3_errmsg(handle_.get()) : sqlite3_errstr(code));
}

Database::Rows::Rows(Database& database, const char* table, int columns) : database_(database) {
  std::string sql = "INSERT INTO " + std::string(table) + " VALUES(?";
  for (int i = 1; i < columns; ++i) sql += ",?";
  sqlite3_stmt* made = nullptr;
  database.check(sqlite3_prepare_v2(database.handle_.get(), (sql + ")").c_str(), -1, &made, nullptr));
  statement_.reset(made);
}

void Database::Rows::step() {
  const int code = sqlite3_step(statement_.get());
  if (code != SQLITE_DONE) database_.failed(code);
  sqlite3_reset(statement_.get());
}

}  // namespace npu::profile
