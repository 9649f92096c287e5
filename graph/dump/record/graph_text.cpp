// SPDX-License-Identifier: Apache-2.0
#include "graph/dump/record/graph_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"

namespace npu::graph::record {
namespace {

constexpr size_t kDeepest = 64;
/// Fields that may stand more than once; inside a `list`, all.
constexpr std::array<std::string_view, 14> kRepeated = {
    "graph", "op",  "input",         "output",   "attr",     "input_desc", "output_desc",
    "dim",   "map", "subgraph_name", "src_name", "dst_name", "src_index",  "dst_index"};

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Json message(std::string_view name, size_t depth) {
    if (depth > kDeepest) refuse("messages stand too deep in each other");
    Json found = Json::object();
    for (skip(); at_ < text_.size() && text_[at_] != '}'; skip()) {
      const std::string field(word());
      put(found, field, value(field, depth), name == "list" || std::ranges::find(kRepeated, field) != kRepeated.end());
    }
    return found;
  }

  bool at_end() const { return at_ == text_.size(); }
  [[noreturn]] void refuse(std::string_view what) const {
    fail(Code::kParseFile, "line {}: {}: this is no dumped graph", line_of(text_, at_), what);
  }

 private:
  static void put(Json& into, const std::string& field, Json value, bool repeated) {
    if (field == "shape" && value.is_object() && value.empty())
      return;  // a scalar's: a reader expects sizes in every shape
    if (!repeated) {
      into[field] = std::move(value);
    } else {
      Json& list = into[field];
      if (list.is_null()) list = Json::array();
      list.push_back(std::move(value));
    }
  }

  void skip() {
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '#') at_ = std::min(text_.find('\n', at_), text_.size() - 1);
      if (std::string_view(" \t\r\n,;").find(text_[at_]) == std::string_view::npos) return;
    }
  }

  std::string_view word() {
    const size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_' ||
                                  text_[at_] == '-' || text_[at_] == '+' || text_[at_] == '.'))
      ++at_;
    if (at_ == begin) refuse("a name or a number is missing");
    return text_.substr(begin, at_ - begin);
  }

  Json value(std::string_view field, size_t depth) {
    skip();
    if (at_ < text_.size() && text_[at_] == ':') ++at_, skip();
    if (at_ == text_.size()) refuse("a value is missing");
    if (text_[at_] == '{') {
      ++at_;
      Json found = message(field, depth + 1);
      if (at_ == text_.size()) refuse("a closing bracket is missing");
      ++at_;
      return found;
    }
    if (text_[at_] == '"' || text_[at_] == '\'') return quoted();
    return bare(word());
  }

  static Json bare(std::string_view word) {
    if (word == "true" || word == "false") return word == "true";
    if (const Json whole = number<int64_t>(word); !whole.is_null()) return whole;
    if (const Json fraction = number<double>(word); !fraction.is_null()) return fraction;
    return std::string(word);  // names of enumerations
  }

  /// Null for what is none; JSON has no infinities, which stay words.
  template <class T>
  static Json number(std::string_view word) {
    T found{};
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), found);
    if (error != std::errc{} || end != word.data() + word.size() || !std::isfinite(static_cast<double>(found)))
      return nullptr;
    return found;
  }

  std::string quoted() {
    const char end = text_[at_++];
    std::string found;
    while (at_ < text_.size() && text_[at_] != end) found.push_back(text_[at_] == '\\' ? escaped() : text_[at_++]);
    if (at_ == text_.size()) refuse("a quote is not closed");
    ++at_;
    return found;
  }

  char escaped() {
    if (++at_ == text_.size()) refuse("a quote is not closed");
    const char c = text_[at_];
    if (c < '0' || c > '7') return ++at_, c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
    int code = 0;
    for (int i = 0; i < 3 && at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '7'; ++i)
      code = code * 8 + (text_[at_++] - '0');
    return static_cast<char>(code);
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

Json parse_graph_text(std::string_view text) {
  Parser parser(text);
  Json found = parser.message("", 0);
  if (!parser.at_end()) parser.refuse("a bracket closes nothing");
  return found;
}

}  // namespace npu::graph::record
