// SPDX-License-Identifier: Apache-2.0
// A file as its bytes are. Nothing here ever changes them: edits are made on byte ranges (edit.h).
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace npu::migrate {

/// A file (or a command line) that cannot be worked on. The text names the file, the reason and the cure.
class Refusal : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Source {
 public:
  /// Refuses what is no text of an ASCII-compatible encoding: NUL bytes, UTF-16 or UTF-32, an encoding nobody knows.
  Source(std::string path, std::string bytes);

  const std::string& path() const { return path_; }
  const std::string& bytes() const { return bytes_; }
  /// What the parser reads: as long as bytes(), offset for offset. Bytes that are no UTF-8 (Latin-1, GBK … by the
  /// file's coding line, or by mistake) stand as letters of an identifier in it; so does a byte-order mark as blanks,
  /// and a \r that ends a line by itself as the \n that the parser knows.
  const std::string& readable() const { return masked_.empty() ? bytes_ : masked_; }
  /// Line of a byte, from 1; a line ends with \n, \r\n or \r.
  size_t line(size_t offset) const;
  size_t line_begin(size_t line) const { return starts_[line - 1]; }
  size_t line_count() const { return starts_.size(); }
  /// The newline most lines have: "\n" where there is none.
  std::string_view newline() const { return newline_; }
  bool has_mark() const { return bytes_.starts_with("\xEF\xBB\xBF"); }

 private:
  void mask(size_t at, char as);
  void find_lines();

  std::string path_, bytes_, masked_;
  std::vector<size_t> starts_;
  std::string_view newline_;
};

/// Refuses folders, files that cannot be read, and files over `limit` bytes.
Source read_source(const std::string& path, size_t limit);

/// The text in lines as Source counts them, each with its end.
std::vector<std::string_view> split_lines(std::string_view text);

}  // namespace npu::migrate
