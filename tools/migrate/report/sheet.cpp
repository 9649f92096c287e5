// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/report/sheet.h"

#include <fmt/format.h>
#include <xlsxwriter.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "tools/migrate/files/output.h"

namespace npu::migrate {
namespace {

constexpr size_t kLongestCell = 32767;  // Excel's own limit
constexpr size_t kMostRows = 1048576;

/// Length of the UTF-8 character at `at`, 0 where none is.
size_t character(std::string_view text, size_t at) {
  const auto first = static_cast<unsigned char>(text[at]);
  const size_t length = first < 0x80   ? 1
                        : first < 0xC2 ? 0
                        : first < 0xE0 ? 2
                        : first < 0xF0 ? 3
                        : first < 0xF5 ? 4
                                       : 0;
  if (at + length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i)
    if ((static_cast<unsigned char>(text[at + i]) & 0xC0U) != 0x80) return 0;
  return length;
}

std::string cell(const std::string& text) {
  std::string out = clean(text);
  if (out.size() <= kLongestCell) return out;
  size_t end = kLongestCell - 3;
  while (end > 0 && (static_cast<unsigned char>(out[end]) & 0xC0U) == 0x80) --end;
  return out.substr(0, end) + "…";
}

void put(lxw_worksheet* page, lxw_row_t row, lxw_col_t column, const std::string& text) {
  const bool number = !text.empty() && text.size() < 10 && text.find_first_not_of("0123456789") == text.npos;
  if (number)
    worksheet_write_number(page, row, column, std::strtod(text.c_str(), nullptr), nullptr);
  else
    worksheet_write_string(page, row, column, cell(text).c_str(), nullptr);
}

}  // namespace

std::string clean(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const size_t length = character(text, i);
    if (length == 0)
      out += "\uFFFD", ++i;
    else if (static_cast<unsigned char>(text[i]) < 0x20 && text[i] != '\n' && text[i] != '\t')
      out += ' ', ++i;
    else
      out += text.substr(i, length), i += length;
  }
  return out;
}

std::string no_formula(std::string text) {
  return !text.empty() && std::string_view("=+-@%").find(text[0]) != std::string_view::npos ? " " + text : text;
}

void write_sheet(const std::string& path, const Sheet& sheet) {
  Temporary temporary(path);
  lxw_workbook_options options{};
  lxw_workbook* book = workbook_new_opt(temporary.name(), &options);
  lxw_worksheet* page = workbook_add_worksheet(book, sheet.name.c_str());
  lxw_format* bold = workbook_add_format(book);
  format_set_bold(bold);
  for (size_t i = 0; i < sheet.headings.size(); ++i) {
    const auto column = static_cast<lxw_col_t>(i);
    worksheet_set_column(page, column, column, sheet.widths[i], nullptr);
    worksheet_write_string(page, 0, column, sheet.headings[i].c_str(), bold);
  }
  worksheet_freeze_panes(page, 1, 0);
  const size_t rows = std::min(sheet.rows.size(), kMostRows - 1);
  for (size_t i = 0; i < rows; ++i)
    for (size_t j = 0; j < sheet.rows[i].size(); ++j)
      put(page, static_cast<lxw_row_t>(i + 1), static_cast<lxw_col_t>(j), sheet.rows[i][j]);
  worksheet_autofilter(page, 0, 0, static_cast<lxw_row_t>(rows), static_cast<lxw_col_t>(sheet.headings.size() - 1));
  errno = 0;
  const lxw_error trouble = workbook_close(book);
  if (trouble == LXW_NO_ERROR && temporary.keep(path)) return;
  const int reason = errno;
  const std::string text =
      fmt::format("{}: cannot be written ({}); make room there or choose another folder for the report", path,
                  trouble == LXW_NO_ERROR ? "it cannot be renamed" : lxw_strerror(trouble));
  if (reason == ENOSPC || reason == EDQUOT) throw DiskFull(text);
  throw Refusal(text);
}

}  // namespace npu::migrate
