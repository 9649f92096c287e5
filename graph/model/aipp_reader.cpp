// SPDX-License-Identifier: Apache-2.0
// The text of a configuration: messages of protobuf's text form, as far as aipp_op needs them. Remarks begin with #,
// fields may be separated by commas or semicolons.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "base/text.h"
#include "graph/model/aipp.h"

namespace npu::graph::model {
namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '+' || c == '-';
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  std::vector<Aipp> read() {
    std::vector<Aipp> out;
    while (skip()) {
      const size_t begin = at_;
      if (const std::string_view name = word(); name != "aipp_op")
        malformed(text_, begin, fmt::format("'{}' stands where aipp_op {{ … }} is expected", name));
      out.push_back(read_message(begin));
    }
    if (out.empty()) malformed(text_, text_.size(), "there is no aipp_op { … }; write one for each input");
    return out;
  }

 private:
  /// Over blanks, remarks and separators. False at the end.
  bool skip() {
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '#')
        at_ = std::min(text_.find('\n', at_), text_.size() - 1);
      else if (!std::isspace(static_cast<unsigned char>(c)) && c != ',' && c != ';')
        return true;
    }
    return false;
  }
  bool skip_to(char c) { return skip() && text_[at_] == c; }
  void expect(char c, std::string_view what) {
    if (!skip_to(c)) malformed(text_, at_, fmt::format("'{}' is missing {}", c, what));
    ++at_;
  }
  std::string_view word() {
    skip();
    const size_t begin = at_;
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    if (at_ == begin) malformed(text_, begin, "a name or a value is missing");
    return text_.substr(begin, at_ - begin);
  }

  Aipp read_message(size_t begin) {
    if (skip_to(':')) ++at_;
    expect('{', "after aipp_op");
    Aipp aipp;
    std::set<std::string_view> seen;
    while (!skip_to('}')) {
      if (at_ >= text_.size()) malformed(text_, begin, "this aipp_op has no closing brace");
      read_field(aipp, seen);
    }
    ++at_;
    try {
      aipp.check();
    } catch (const Error& e) {
      malformed(text_, begin, e.message());
    }
    return aipp;
  }

  void read_field(Aipp& aipp, std::set<std::string_view>& seen) {
    skip();
    const size_t begin = at_;
    const std::string_view name = word();
    const auto keys = aipp_keys();
    const auto key = std::find_if(keys.begin(), keys.end(), [&](const AippKey& k) { return k.name == name; });
    if (key == keys.end()) malformed(text_, begin, fmt::format("an aipp_op has no key '{}'", name));
    AippField field = key->field(aipp);
    if (!seen.insert(key->name).second && !std::holds_alternative<std::vector<int64_t>*>(field))
      malformed(text_, begin, fmt::format("{} is given twice", name));
    expect(':', fmt::format("after {}", name));
    skip();
    std::visit([&](auto* value) { read_value(*key, *value); }, field);
  }

  [[noreturn]] void refuse(const AippKey& key, size_t begin, std::string_view got, std::string_view wanted) const {
    malformed(text_, begin, fmt::format("{} is {}; {}", key.name, got, wanted));
  }
  void read_value(const AippKey& key, int64_t& value) {
    const size_t begin = at_;
    const std::string_view text = word();
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
      refuse(key, begin, text,
             key.name.starts_with("mean")
                 ? "it takes an integer; a fraction goes into min_chn, which is subtracted as well"
                 : "it takes an integer");
    check_range(key, begin, text, static_cast<double>(value));
  }
  void read_value(const AippKey& key, double& value) {
    const size_t begin = at_;
    const std::string_view text = word();
    const std::string_view digits = text.ends_with('f') ? text.substr(0, text.size() - 1) : text;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size()) refuse(key, begin, text, "it takes a number");
    check_range(key, begin, text, value);
  }
  void check_range(const AippKey& key, size_t begin, std::string_view text, double value) const {
    // Written so that NaN is outside, too.
    if (!(value >= key.low && value <= key.high))
      refuse(key, begin, text, fmt::format("it lies between {} and {}", key.low, key.high));
  }
  void read_value(const AippKey& key, bool& value) {
    const size_t begin = at_;
    const std::string_view text = word();
    value = text == "true" || text == "True" || text == "t" || text == "1";
    if (!value && text != "false" && text != "False" && text != "f" && text != "0")
      refuse(key, begin, text, "it takes true or false");
  }
  void read_value(const AippKey& key, std::string& value) {
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '"' && quote != '\'') {
      value = word();
      return;
    }
    const size_t end = text_.find(quote, at_ + 1), line = text_.find('\n', at_);
    if (end > line || end == std::string_view::npos)
      malformed(text_, at_, fmt::format("{}: the text has no end", key.name));
    value = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
  }
  void read_value(const AippKey& key, std::vector<int64_t>& values) {
    int64_t value = 0;
    if (!skip_to('[')) return read_value(key, value), values.push_back(value);
    for (++at_; !skip_to(']');) read_value(key, value), values.push_back(value);
    ++at_;
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

std::vector<Aipp> read_aipp(std::string_view text, const std::string& file) {
  try {
    return Reader(text).read();
  } catch (const Error& e) {
    throw Error(e.code(), fmt::format("E10052: {}: {}", file, e.message()), e.place());
  }
}

}  // namespace npu::graph::model
