// SPDX-License-Identifier: Apache-2.0
#include "tools/compare/report/csv.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>

#include "tools/compare/exit/refusal.h"

namespace npu::compare {
namespace {

std::string quoted(const std::string& cell) {
  if (cell.find_first_of(",\"\r\n") == cell.npos) return cell;
  std::string found = "\"";
  for (const char c : cell) found.append(c == '"' ? 2 : 1, c);
  return found + '"';
}

}  // namespace

std::string csv_line(const Cells& cells) {
  std::string line;
  for (const std::string& cell : cells) line += (line.empty() && &cell == &cells.front() ? "" : ",") + quoted(cell);
  return line + "\r\n";
}

void write_file(const std::string& path, std::string_view text) {
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  errno = 0;
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  if (!out) throw Refusal(Exit::kWrite, fmt::format("{} cannot be written: {}", path, std::strerror(errno)));
}

std::string time_stamp() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  localtime_r(&now, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y%m%d%H%M%S", &parts);
  return text.data();
}

}  // namespace npu::compare
