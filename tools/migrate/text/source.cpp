// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/text/source.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <regex>

namespace npu::migrate {
namespace {

/// Length of the UTF-8 character at `at`, 0 where none is (RFC 3629: no overlong forms, no surrogates).
size_t character(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0U; };
  const auto more = [&](size_t i) { return (byte(i) & 0xC0) == 0x80; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return more(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const bool bad = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xED && byte(1) > 0x9F);
    return more(1) && more(2) && !bad ? 3 : 0;
  }
  if (first < 0xF0 || first > 0xF4) return 0;
  const bool bad = (first == 0xF0 && byte(1) < 0x90) || (first == 0xF4 && byte(1) > 0x8F);
  return more(1) && more(2) && more(3) && !bad ? 4 : 0;
}

/// Every byte of a character that is no ASCII as a letter; `two_bytes` where the encoding's second bytes may be ASCII.
std::string masked(std::string text, bool two_bytes) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (static_cast<unsigned char>(text[i]) < 0x80) continue;
    text[i] = 'x';
    if (two_bytes && i + 1 < text.size() && text[i + 1] != '\n' && text[i + 1] != '\r') text[++i] = 'x';
  }
  return text;
}

/// Bytes that belong to no UTF-8 character, one by one, as letters; "" where there is none.
std::string without_bad_bytes(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const size_t length = character(text, i);
    if (length == 0) {
      if (out.empty()) out = text;
      out[i] = 'x';
    }
    i += std::max<size_t>(length, 1);
  }
  return out;
}

/// The encoding that one of the first two lines names (PEP 263), in lower case with '-' for '_'; "" for none.
std::string coding(std::string_view text) {
  static const std::regex pattern(R"(^[ \t\f]*#.*?coding[:=][ \t]*([-_.a-zA-Z0-9]+))");
  for (int line = 0; line < 2; ++line) {
    const std::string_view first = text.substr(0, text.find_first_of("\r\n"));
    std::cmatch found;
    if (first.size() < 400 && std::regex_search(first.begin(), first.end(), found, pattern)) {
      std::string name = found[1];
      std::ranges::transform(name, name.begin(),
                             [](char c) { return c == '_' ? '-' : static_cast<char>(std::tolower(c)); });
      return name;
    }
    text.remove_prefix(std::min(text.size(), first.size() + (text.substr(first.size()).starts_with("\r\n") ? 2 : 1)));
  }
  return {};
}

bool is_utf8(const std::string& name) {
  return name.empty() || name.starts_with("utf-8") || name == "utf8" || name == "ascii";
}

bool has_two_bytes(const std::string& name) {
  constexpr std::array kNames = {"gb",    "big5", "cp936", "cp950", "cp932", "cp949",
                                 "shift", "sjis", "euc",   "johab", "hz"};
  return std::ranges::any_of(kNames, [&](const char* known) { return name.starts_with(known); });
}

void refuse_other_than_text(const std::string& path, std::string_view bytes) {
  if (bytes.starts_with("\xFF\xFE") || bytes.starts_with("\xFE\xFF"))
    throw Refusal(fmt::format("{}: is UTF-16 or UTF-32, which Python does not run either; save it as UTF-8", path));
  if (const size_t at = bytes.find('\0'); at != bytes.npos)
    throw Refusal(fmt::format("{}: is no text (byte {} is NUL); it is left as it is", path, at));
}

}  // namespace

Source::Source(std::string path, std::string bytes) : path_(std::move(path)), bytes_(std::move(bytes)) {
  refuse_other_than_text(path_, bytes_);
  const std::string name = coding(bytes_);
  if (name.starts_with("utf-16") || name.starts_with("utf-32") || name.starts_with("utf-7"))
    throw Refusal(
        fmt::format("{}: its coding line says {}, which Python does not run either; save it as UTF-8", path_, name));
  masked_ = is_utf8(name) ? without_bad_bytes(bytes_) : masked(bytes_, has_two_bytes(name));
  for (size_t i = 0; has_mark() && i < 3; ++i) mask(i, ' ');
  find_lines();
}

void Source::mask(size_t at, char as) {
  if (masked_.empty()) masked_ = bytes_;
  masked_[at] = as;
}

void Source::find_lines() {
  size_t unix_lines = 0, windows_lines = 0, old_lines = 0;
  starts_.push_back(0);
  for (size_t i = 0; i < bytes_.size(); ++i) {
    if (bytes_[i] == '\r' && i + 1 < bytes_.size() && bytes_[i + 1] == '\n')
      ++i, ++windows_lines;
    else if (bytes_[i] == '\r')
      ++old_lines, mask(i, '\n');
    else if (bytes_[i] == '\n')
      ++unix_lines;
    else
      continue;
    starts_.push_back(i + 1);
  }
  newline_ = windows_lines > unix_lines ? "\r\n" : old_lines > unix_lines ? "\r" : "\n";
}

size_t Source::line(size_t offset) const { return std::ranges::upper_bound(starts_, offset) - starts_.begin(); }

Source read_source(const std::string& path, size_t limit) {
  std::error_code trouble;
  const auto size = std::filesystem::file_size(path, trouble);
  if (trouble)
    throw Refusal(fmt::format("{}: cannot be read ({}); check the path and its permissions", path, trouble.message()));
  if (size > limit)
    throw Refusal(fmt::format("{}: has {} MB, more than the {} MB a file may have; it is left as it is", path,
                              size >> 20, limit >> 20));
  std::string bytes(size, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(bytes.data(), static_cast<std::streamsize>(size));
  if (!file) throw Refusal(fmt::format("{}: cannot be read ({}); check its permissions", path, std::strerror(errno)));
  return {path, std::move(bytes)};
}

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    size_t end = std::min(text.find_first_of("\r\n"), text.size() - 1);
    if (text[end] == '\r' && end + 1 < text.size() && text[end + 1] == '\n') ++end;
    out.push_back(text.substr(0, end + 1));
    text.remove_prefix(end + 1);
  }
  return out;
}

}  // namespace npu::migrate
