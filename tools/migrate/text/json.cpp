// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/text/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "tools/migrate/text/source.h"

namespace npu::migrate {
namespace {

constexpr int kDeepest = 200;  // values in values; notebooks have about ten

class Parser {
 public:
  Parser(const std::string& path, std::string_view text) : path_(path), text_(text) {}

  Json done() {
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
    Json out = value(0);
    skip();
    if (at_ != text_.size()) refuse();
    return out;
  }

 private:
  [[noreturn]] void refuse() const {
    const auto line = std::ranges::count(text_.substr(0, std::min(at_, text_.size())), '\n') + 1;
    throw Refusal(fmt::format("{}: is no JSON at its line {}; it is left as it is", path_, line));
  }
  char here() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }
  void take(char wanted) {
    skip();
    if (here() != wanted) refuse();
    ++at_;
  }
  bool took(char wanted) {
    skip();
    const bool there = here() == wanted;
    at_ += there;
    return there;
  }

  Json value(int depth) {
    skip();
    if (depth > kDeepest) refuse();
    Json out;
    out.begin = at_;
    switch (here()) {
      case '{': object(out, depth); break;
      case '[': list(out, depth); break;
      case '"': string(out); break;
      default: other();
    }
    out.end = at_;
    return out;
  }

  void object(Json& out, int depth) {
    out.kind = Json::Kind::kObject;
    take('{');
    if (took('}')) return;
    do {
      skip();
      Json key;
      key.begin = at_;
      if (here() != '"') refuse();
      string(key);
      key.end = at_;
      take(':');
      out.members.emplace_back(read_string(text_, key).text, value(depth + 1));
    } while (took(','));
    take('}');
  }

  void list(Json& out, int depth) {
    out.kind = Json::Kind::kList;
    take('[');
    if (took(']')) return;
    do {
      out.items.push_back(value(depth + 1));
    } while (took(','));
    take(']');
  }

  void string(Json& out) {
    out.kind = Json::Kind::kString;
    for (++at_; here() != '"'; ++at_) {
      if (at_ >= text_.size() || static_cast<unsigned char>(here()) < 0x20) refuse();
      if (here() != '\\') continue;
      ++at_;
      if (here() == 'u')
        hexadecimal();
      else if (here() == '\0' || std::string_view("\"\\/bfnrt").find(here()) == std::string_view::npos)
        refuse();
    }
    ++at_;
  }

  void hexadecimal() {
    for (int i = 0; i < 4; ++i) {
      ++at_;
      if (std::isxdigit(static_cast<unsigned char>(here())) == 0) refuse();
    }
  }

  /// A number, true, false or null; what else Python's own writer makes (NaN, Infinity) is taken, too.
  void other() {
    const size_t end = std::min(text_.find_first_of(",]} \t\r\n", at_), text_.size());
    const std::string_view word = text_.substr(at_, end - at_);
    const auto fits = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '+' || c == '.';
    };
    if (word.empty() || !std::ranges::all_of(word, fits)) refuse();
    at_ = end;
  }

  const std::string& path_;
  std::string_view text_;
  size_t at_ = 0;
};

uint32_t unit_at(std::string_view json, size_t at) {
  uint32_t out = 0;
  std::from_chars(json.data() + at, json.data() + at + 4, out, 16);
  return out;
}

bool is_high(uint32_t unit) { return unit >= 0xD800 && unit < 0xDC00; }
bool is_low(uint32_t unit) { return unit >= 0xDC00 && unit < 0xE000; }

/// As UTF-8; half of a pair by itself as three bytes, which json_escaped() knows again.
void put_utf8(std::string& out, uint32_t code) {
  const auto put = [&](uint32_t bits) { out += static_cast<char>(bits); };
  if (code < 0x80) return put(code);
  if (code < 0x800) {
    put(0xC0 | code >> 6);
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3F));
  } else {
    put(0xF0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3F));
    put(0x80 | (code >> 6 & 0x3F));
  }
  put(0x80 | (code & 0x3F));
}

/// Length of the character that begins with this byte; 1 of a byte that begins none.
size_t length_of(unsigned char first) { return first < 0xC0 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4; }

uint32_t code_of(std::string_view character) {
  const auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<unsigned char>(character[i])); };
  if (character.size() == 1) return byte(0);
  uint32_t out = byte(0) & (0xFFU >> (character.size() + 1));
  for (size_t i = 1; i < character.size(); ++i) out = out << 6 | (byte(i) & 0x3F);
  return out;
}

std::string escape(uint32_t code) {
  if (code < 0x10000) return fmt::format("\\u{:04x}", code);
  return fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + ((code - 0x10000) >> 10), 0xDC00 + ((code - 0x10000) & 0x3FF));
}

}  // namespace

const Json* Json::member(std::string_view name) const {
  const auto found = std::ranges::find(members, name, [](const auto& each) { return std::string_view(each.first); });
  return found == members.end() ? nullptr : &found->second;
}

Json parse_json(const std::string& path, std::string_view text) { return Parser(path, text).done(); }

JsonText read_string(std::string_view json, const Json& string) {
  static constexpr std::string_view kEscapes = "bfnrt", kMeant = "\b\f\n\r\t";
  JsonText out;
  const size_t end = string.end - 1;
  for (size_t at = string.begin + 1, next = 0; at < end; at = next) {
    const size_t length = out.text.size();
    next = at + 1;
    if (json[at] != '\\') {
      out.text += json[at];
    } else if (json[at + 1] != 'u') {
      const size_t known = kEscapes.find(json[at + 1]);
      out.text += known == kEscapes.npos ? json[at + 1] : kMeant[known];
      next = at + 2;
    } else {
      uint32_t code = unit_at(json, at + 2);
      next = at + 6;
      const bool paired = is_high(code) && next + 6 <= end && json.substr(next, 2) == "\\u";
      if (paired && is_low(unit_at(json, next + 2))) {
        code = 0x10000 + ((code - 0xD800) << 10) + (unit_at(json, next + 2) - 0xDC00);
        next += 6;
      }
      put_utf8(out.text, code);
    }
    out.places.resize(out.places.size() + out.text.size() - length, at);
  }
  out.places.push_back(end);
  return out;
}

std::string json_escaped(std::string_view text, bool ascii) {
  static constexpr std::string_view kMeant = "\b\f\n\r\t\"\\", kEscapes = "bfnrt\"\\";
  std::string out;
  for (size_t at = 0, length = 0; at < text.size(); at += length) {
    const auto first = static_cast<unsigned char>(text[at]);
    length = std::min(length_of(first), text.size() - at);
    const uint32_t code = code_of(text.substr(at, length));
    if (const size_t known = kMeant.find(text[at]); known != kMeant.npos)
      out += {'\\', kEscapes[known]};
    else if (first < 0x20 || is_high(code) || is_low(code) || (ascii && first >= 0x80))
      out += escape(code);
    else
      out += text.substr(at, length);
  }
  return out;
}

}  // namespace npu::migrate
