// SPDX-License-Identifier: Apache-2.0
// What an expression may be, as far as reading tells.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace npu::migrate {

/// Where a string literal stands: in which file of the project, and its bytes there.
struct Place {
  int32_t file = -1;
  uint32_t begin = 0, end = 0;
  bool operator==(const Place&) const = default;
};

struct Value {
  enum class What : uint8_t {
    kName,      ///< an API or something of the project, by its dotted name; "f()" is what calling f gives, "x[]" an
                ///< element of x, "(x" a literal list or tuple with x in it
    kText,      ///< a string literal
    kConstant,  ///< a number, None, True, False: its source text
    kUnknown    ///< anything; text is "?" and the way from there, as in "?.cuda()"
  };
  What what = What::kUnknown;
  bool whole = true;  ///< of a text: all of it, not only how it begins ("cuda:%d" % i)
  std::string text = "?";
  Place origin;  ///< of a text
  bool operator==(const Value&) const = default;

  static Value name(std::string dotted) { return {What::kName, true, std::move(dotted), {}}; }
  static Value unknown(std::string path = "?") { return {What::kUnknown, true, std::move(path), {}}; }
  static Value constant(std::string_view text) { return {What::kConstant, true, std::string(text), {}}; }
  bool is_name() const { return what == What::kName; }
  bool is_text() const { return what == What::kText; }
  /// A name of the project itself: ":package.module.name".
  bool is_ours() const { return is_name() && text.starts_with(':'); }
};

/// All that an expression may be over branches and loops; never empty after evaluation.
class Values {
 public:
  Values() = default;
  Values(Value value) { add(std::move(value)); }  // NOLINT: one value is a set of one
  void add(Value value);
  void add(const Values& others);
  bool empty() const { return list_.empty(); }
  size_t size() const { return list_.size(); }
  auto begin() const { return list_.begin(); }
  auto end() const { return list_.end(); }
  /// Whether something unknown is among them.
  bool open() const;
  /// "tensorflow.keras.Model() or unknown", for messages.
  std::string spelled() const;

 private:
  static constexpr size_t kMost = 12;  // further ones count as unknown
  std::vector<Value> list_;
};

}  // namespace npu::migrate
