// SPDX-License-Identifier: Apache-2.0
// Shape, type and range of tensors, as the precision tool shows them.
#include <fmt/format.h>

#include <filesystem>

#include "tools/compare/exit/refusal.h"
#include "tools/compare/face/arguments.h"
#include "tools/compare/face/face.h"
#include "tools/compare/face/range.h"
#include "tools/compare/folder/dump_folder.h"

namespace npu::compare {
namespace {

namespace fs = std::filesystem;

void print_lines(const char* side, const std::vector<Tensor>& tensors, bool array) {
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (!array) fmt::print(" - {} {}\n", side, i);
    fmt::print(" |- {}\n", in_one_line(range_of(tensors[i])));
  }
}

void print_file(const std::string& path) {
  const Opened opened({path, path, 0});
  fmt::print(" - {}\n", fs::path(path).filename().string());
  print_lines("input", opened.inputs(), opened.dump() == nullptr);
  print_lines("output", opened.outputs(), opened.dump() == nullptr);
}

/// One array in full: its elements go into a text beside it.
void print_array(const std::string& path, const std::string& text) {
  const Opened opened({path, path, 0});
  if (opened.outputs().size() != 1 || opened.dump() != nullptr)
    throw Refusal(Exit::kFileType, fmt::format("{} is no array of NumPy; convert the dump file first.", path));
  const Range range = range_of(opened.outputs()[0]);
  write_elements(opened.outputs()[0], text);
  fmt::print("Shape: {}\nDtype: {}\nMax: {}\nMin: {}\nMean: {}\n", range.shape, range.type, range.most, range.least,
             range.mean);
  if (range.nans > 0) fmt::print("NaN: {}\n", range.nans);
  fmt::print("Path: {}\nTxtFile: {}\n", path, text);
}

}  // namespace

int summary_face(const Words& arguments) {
  std::vector<std::string> files;
  std::string text;
  Arguments a;
  a.words("-d --dump_path", files, "<Required> dump files or arrays of NumPy");
  a.value("-txt --text", text, "<Optional> write the elements of one array there, one a line");
  if (!a.read(arguments, "msaccucmp summary")) return 0;
  if (files.empty()) throw UsageError{"summary takes -d with dump files or arrays of NumPy"};
  if (!text.empty() && files.size() != 1) throw UsageError{"-txt takes one array"};
  for (const std::string& path : files) {
    if (!fs::is_regular_file(path)) throw Refusal(Exit::kMissing, fmt::format("{} is no file.", path));
    text.empty() ? print_file(path) : print_array(path, text);
  }
  return 0;
}

}  // namespace npu::compare
