// SPDX-License-Identifier: Apache-2.0
// Spreadsheets (*.xlsx): written by libxlsxwriter, read with minizip and expat.
#pragma once

#include <string>
#include <vector>

namespace npu::migrate {

using Cells = std::vector<std::vector<std::string>>;

struct Sheet {
  std::string name;
  std::vector<std::string> headings;
  std::vector<double> widths;  ///< of columns, in characters
  Cells rows;                  ///< a cell of digits alone is written as a number
};

/// Writes a workbook of one sheet. Raises Refusal or DiskFull; the file is there as a whole or not at all.
void write_sheet(const std::string& path, const Sheet& sheet);
/// The cells of the first sheet, as text; missing ones are "". Refuses (Refusal) what is no workbook.
Cells read_sheet(const std::string& path);

/// The same text as valid UTF-8 without control characters, as spreadsheets and JSON want it.
std::string clean(std::string_view text);
/// What a spreadsheet would take for a formula gets a blank in front.
std::string no_formula(std::string text);

}  // namespace npu::migrate
