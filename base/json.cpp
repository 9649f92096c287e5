// SPDX-License-Identifier: Apache-2.0
// Texts are parsed by the event interface of nlohmann/json, which keeps its stack on the heap; a builder makes values
// of the events and counts their depth. Texts are written by a recursive descent into one string. Elements are a
// vector, members a map by key: references to members stay valid, and n members cost O(n log n) whatever their order.
#include "base/json.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <variant>
#include <vector>

namespace npu {

JsonError::~JsonError() = default;
JsonParseError::~JsonParseError() = default;

namespace {

/// what() as of nlohmann/json: the hundreds of `id` select the class of its exception.
std::string error_text(int id, const std::string& text) {
  constexpr std::array<const char*, 5> kClasses = {"", "parse_error", "invalid_iterator", "type_error", "out_of_range"};
  return std::string("[json.exception.") + kClasses.at(static_cast<size_t>(id) / 100) + "." + std::to_string(id) +
         "] " + text;
}

/// The name of a kind in error texts.
const char* name_of(JsonKind kind) {
  switch (kind) {
    case JsonKind::kNull: return "null";
    case JsonKind::kBoolean: return "boolean";
    case JsonKind::kString: return "string";
    case JsonKind::kArray: return "array";
    case JsonKind::kObject: return "object";
    default: return "number";
  }
}

[[noreturn]] void raise(int id, const std::string& text) { throw JsonError(id, error_text(id, text)); }

// Parsing.

size_t end_of_string(std::string_view text, size_t quote) {
  size_t at = quote + 1;
  while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2 : 1;
  return at;
}

size_t end_of_comment(std::string_view text, size_t begin) {
  const bool block = text.substr(begin).starts_with("/*");
  const size_t end = block ? text.find("*/", begin + 2) : text.find('\n', begin);
  return end == std::string_view::npos ? text.size() : end + (block ? 1 : 0);
}

/// Where the first bracket beyond kMaxJsonDepth is. Up to there the parser has found nothing wrong.
size_t first_too_deep(std::string_view text) {
  size_t depth = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') at = end_of_string(text, at);
    if (c == '/') at = end_of_comment(text, at);
    if (c == ']' || c == '}') --depth;
    if ((c == '[' || c == '{') && ++depth > kMaxJsonDepth) return at;
  }
  return text.size();
}

JsonParseError too_deep(std::string_view text) {
  const size_t at = first_too_deep(text);
  const std::string_view before = text.substr(0, at);
  const auto line = std::ranges::count(before, '\n') + 1;
  const size_t column = at - before.rfind('\n');  // npos is -1
  return {JsonParseError::kSyntax,
          error_text(JsonParseError::kSyntax, "parse error at line " + std::to_string(line) + ", column " +
                                                  std::to_string(column) + ": arrays and objects nest deeper than " +
                                                  std::to_string(kMaxJsonDepth) + " levels"),
          at + 1};
}

/// The parser's errors and the depth of nesting; values are left to Builder.
class Events : public nlohmann::json_sax<nlohmann::json> {
 public:
  bool parse_error(size_t position, const std::string& /*token*/, const nlohmann::json::exception& error) override {
    error_.emplace(error.id, error.what(), position);
    return false;
  }
  bool binary(binary_t& /*value*/) override { return false; }  // does not occur in JSON

 protected:
  bool enter() { return ++depth_ <= kMaxJsonDepth; }
  bool leave() {
    --depth_;
    return true;
  }
  size_t depth() const { return depth_; }
  const std::optional<JsonParseError>& error() const { return error_; }

 private:
  size_t depth_ = 0;
  std::optional<JsonParseError> error_;
};

/// Returns whether all of `text` was read and is valid.
bool run_parser(std::string_view text, Events& events, bool skips_comments) {
  return nlohmann::json::sax_parse(text.data(), text.data() + text.size(), &events,
                                   nlohmann::json::input_format_t::json, true, skips_comments);
}

// Writing.

void append_hex(std::string& out, unsigned byte, const char* digits) {
  out += digits[byte >> 4];
  out += digits[byte & 15];
}

void append_escaped(std::string& out, char c) {
  constexpr std::string_view kSpecial = "\b\t\n\f\r\"\\", kLetters = "btnfr\"\\";
  if (const size_t at = kSpecial.find(c); at != std::string_view::npos) {
    out += '\\';
    out += kLetters[at];
    return;
  }
  out += "\\u00";
  append_hex(out, static_cast<unsigned char>(c), "0123456789abcdef");
}

/// Bytes that need no escape.
constexpr std::array<bool, 256> plain_bytes() {
  std::array<bool, 256> out{};
  for (size_t c = 0x20; c < 0x80; ++c) out[c] = c != '"' && c != '\\';
  return out;
}

size_t end_of_plain(std::string_view text, size_t at) {
  static constexpr std::array<bool, 256> kPlain = plain_bytes();
  while (at < text.size() && kPlain[static_cast<unsigned char>(text[at])]) ++at;
  return at;
}

/// The bytes that follow the first one of a code point (Unicode, table 3-7): their number, and the range of the first
/// of them; the others are 80 to BF. `count` is 0 for a byte that cannot begin a code point.
struct Continuation {
  size_t count;
  unsigned least = 0x80, most = 0xBF;
};
Continuation continuation_of(unsigned lead) {
  if (lead < 0xC2 || lead > 0xF4) return {0};
  if (lead < 0xE0) return {1};
  if (lead < 0xF0) return {2, lead == 0xE0 ? 0xA0u : 0x80u, lead == 0xED ? 0x9Fu : 0xBFu};
  return {3, lead == 0xF0 ? 0x90u : 0x80u, lead == 0xF4 ? 0x8Fu : 0xBFu};
}

/// The code point of several bytes that begins at `at`: where it ends, or the first byte that does not belong to it.
struct CodePoint {
  size_t end;
  bool valid;
};
CodePoint code_point_at(std::string_view text, size_t at) {
  Continuation rest = continuation_of(static_cast<unsigned char>(text[at]));
  if (rest.count == 0) return {at, false};
  const size_t end = at + 1 + rest.count;
  for (++at; at < end; ++at) {
    if (at == text.size()) return {at, false};
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte < rest.least || byte > rest.most) return {at, false};
    rest = {0};
  }
  return {end, true};
}

[[noreturn]] void refuse_utf8(std::string_view text, size_t at) {
  const bool ends = at == text.size();
  std::string reason =
      ends ? "incomplete UTF-8 string; last byte: 0x" : "invalid UTF-8 byte at index " + std::to_string(at) + ": 0x";
  append_hex(reason, static_cast<unsigned char>(ends ? text.back() : text[at]), "0123456789ABCDEF");
  raise(316, reason);
}

/// Appends the code point at `at`, or U+FFFD for an incomplete one. Returns its end.
size_t append_code_point(std::string& out, std::string_view text, size_t at, InvalidUtf8 invalid) {
  const CodePoint found = code_point_at(text, at);
  if (!found.valid && invalid == InvalidUtf8::kRaise) refuse_utf8(text, found.end);
  out += found.valid ? text.substr(at, found.end - at) : "\xEF\xBF\xBD";
  return std::max(found.end, at + 1);
}

void append_string(std::string& out, std::string_view text, InvalidUtf8 invalid) {
  out += '"';
  for (size_t at = 0; at < text.size();) {
    const size_t end = end_of_plain(text, at);
    out += text.substr(at, end - at);
    at = end;
    if (at == text.size()) break;
    if (static_cast<unsigned char>(text[at]) < 0x80)
      append_escaped(out, text[at++]);
    else
      at = append_code_point(out, text, at, invalid);
  }
  out += '"';
}

template <class Integer>
void append_integer(std::string& out, Integer value) {
  std::array<char, 24> digits;
  out.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr);
}

/// By Grisu2, as nlohmann/json does. std::to_chars differs: its digits are always the shortest ones.
void append_float(std::string& out, double value) {
  if (!std::isfinite(value)) {
    out += "null";
    return;
  }
  std::array<char, 64> digits;
  out.append(digits.data(), nlohmann::detail::to_chars(digits.data(), digits.data() + digits.size(), value));
}

template <bool Ordered>
class Writer {
 public:
  using Value = BasicJson<Ordered>;
  Writer(std::string& out, int indent, InvalidUtf8 invalid)
      : out_(out), breaks_(indent >= 0), indent_(breaks_ ? static_cast<size_t>(indent) : 0), invalid_(invalid) {}

  void write(const Value& value, size_t depth) {
    switch (value.kind()) {
      case JsonKind::kNull: out_ += "null"; break;
      case JsonKind::kBoolean: out_ += value.template get<bool>() ? "true" : "false"; break;
      case JsonKind::kInteger: append_integer(out_, value.template get<int64_t>()); break;
      case JsonKind::kUnsigned: append_integer(out_, value.template get<uint64_t>()); break;
      case JsonKind::kFloat: append_float(out_, value.template get<double>()); break;
      case JsonKind::kString: append_string(out_, value.as_string(), invalid_); break;
      case JsonKind::kArray: block("[]", value, depth, [&](const Value& one) { write(one, depth + 1); }); break;
      case JsonKind::kObject:
        block("{}", value.items(), depth, [&](const auto& member) {
          append_string(out_, member.key, invalid_);
          out_ += breaks_ ? ": " : ":";
          write(member.value, depth + 1);
        });
        break;
    }
  }

 private:
  template <class Range, class Write>
  void block(const char* brackets, const Range& range, size_t depth, Write&& write_one) {
    out_ += brackets[0];
    bool empty = true;
    for (auto&& one : range) {
      if (!empty) out_ += ',';
      empty = false;
      begin_line(depth + 1);
      write_one(one);
    }
    if (!empty) begin_line(depth);
    out_ += brackets[1];
  }
  void begin_line(size_t depth) {
    if (!breaks_) return;
    out_ += '\n';
    out_.append(depth * indent_, ' ');
  }

  std::string& out_;
  const bool breaks_;
  const size_t indent_;
  const InvalidUtf8 invalid_;
};

}  // namespace

template <bool Ordered>
struct BasicJson<Ordered>::List {
  std::vector<BasicJson> values;
};

/// Members by key, and for OrderedJson in the order in which they were added, too. The node of a cursor is a place in
/// the map (Json) or a pointer to one in `order` (OrderedJson).
template <bool Ordered>
struct BasicJson<Ordered>::Members {
  struct Slot {
    BasicJson value;
    [[no_unique_address]] std::conditional_t<Ordered, size_t, std::monostate> index{};  ///< in `order`
  };
  using Map = std::map<std::string, Slot, std::less<>>;
  using Place = typename Map::iterator;
  static_assert(sizeof(Place) == sizeof(const void*) && std::is_trivially_copyable_v<Place>);

  Map map;
  [[no_unique_address]] std::conditional_t<Ordered, std::vector<Place>, std::monostate> order;

  Members() = default;
  Members(const Members& other) {
    if constexpr (!Ordered) {
      map = other.map;
    } else {
      order.reserve(other.order.size());
      for (const Place& place : other.order) add(place->first, place->second.value);
    }
  }
  Members& operator=(const Members&) = delete;
  ~Members() = default;

  /// The value of `key`, which is added as `value` where it is missing.
  template <class Key>
  BasicJson& add(Key&& key, BasicJson value) {
    const Place next = map.lower_bound(key);
    if (next != map.end() && next->first == key) return next->second.value;
    const Place place = map.emplace_hint(next, std::forward<Key>(key), Slot{std::move(value)});
    if constexpr (Ordered) {
      place->second.index = order.size();
      order.push_back(place);
    }
    return place->second.value;
  }
  size_t erase(std::string_view key) {
    const Place place = map.find(key);
    if (place == map.end()) return 0;
    if constexpr (Ordered) {
      order.erase(order.begin() + static_cast<std::ptrdiff_t>(place->second.index));
      for (size_t i = place->second.index; i < order.size(); ++i) order[i]->second.index = i;
    }
    map.erase(place);
    return 1;
  }

  Cursor last() { return {nullptr, this, nullptr}; }
  Cursor at(Place place) {
    if (place == map.end()) return last();
    if constexpr (Ordered)
      return {&place->second.value, this, &order[place->second.index]};
    else
      return {&place->second.value, this, std::bit_cast<const void*>(place)};
  }
  Cursor first() {
    if constexpr (Ordered)
      return order.empty() ? last() : at(order.front());
    else
      return at(map.begin());
  }
  Cursor next(const void* node) {
    if constexpr (!Ordered) {
      return at(std::next(std::bit_cast<Place>(node)));
    } else {
      const Place* place = static_cast<const Place*>(node) + 1;
      return place == order.data() + order.size() ? last() : at(*place);
    }
  }
  static const std::string& key_at(const void* node) {
    if constexpr (Ordered)
      return (*static_cast<const Place*>(node))->first;
    else
      return std::bit_cast<Place>(node)->first;
  }
};

/// Makes a value of the parser's events. `open_` holds the arrays and objects that have not ended, outermost first.
/// Their addresses stay valid, because only the innermost one grows.
template <bool Ordered>
class BasicJson<Ordered>::Builder final : public Events {
 public:
  bool null() override { return add({}); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(int64_t value) override { return add(value); }
  bool number_unsigned(uint64_t value) override { return add(value); }
  bool number_float(double value, const std::string& /*digits*/) override { return add(value); }
  bool string(std::string& value) override { return add(std::move(value)); }
  bool key(std::string& key) override {
    key_ = std::move(key);
    return true;
  }
  bool start_object(size_t /*size*/) override { return open(JsonKind::kObject); }
  bool start_array(size_t /*size*/) override { return open(JsonKind::kArray); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  /// The value of `text`; nothing if it is refused.
  std::optional<BasicJson> build(std::string_view text, bool skips_comments) {
    if (!run_parser(text, *this, skips_comments)) return std::nullopt;
    return std::move(root_);
  }
  /// The error if build() returned nothing.
  JsonParseError reason(std::string_view text) const { return error() ? *error() : too_deep(text); }

 private:
  bool add(BasicJson value) {
    place() = std::move(value);
    return true;
  }
  /// The place of the next value. A later member of the same key replaces the earlier one.
  BasicJson& place() {
    if (open_.empty()) return root_;
    BasicJson& parent = *open_.back();
    if (parent.is_array()) return parent.content_.list->values.emplace_back();
    return parent.content_.members->add(std::move(key_), {});
  }
  bool open(JsonKind kind) {
    if (!enter()) return false;
    BasicJson& at = place();
    at = BasicJson();
    at.make(kind);
    open_.push_back(&at);
    return true;
  }
  bool close() {
    open_.pop_back();
    return leave();
  }

  BasicJson root_;
  std::vector<BasicJson*> open_;
  std::string key_;
};

template <bool Ordered>
BasicJson<Ordered>::BasicJson(const BasicJson& other) : kind_(other.kind_), content_(other.content_) {
  if (is_string()) content_.string = new std::string(*other.content_.string);
  if (is_array()) content_.list = new List(*other.content_.list);
  if (is_object()) content_.members = new Members(*other.content_.members);
}

template <bool Ordered>
BasicJson<Ordered>::~BasicJson() {
  if (is_string()) delete content_.string;
  if (is_array()) delete content_.list;
  if (is_object()) delete content_.members;
}

template <bool Ordered>
BasicJson<Ordered>::BasicJson(Elements elements) : BasicJson() {
  const bool pairs = std::ranges::all_of(
      elements, [](const auto& one) { return (*one).is_array() && (*one).size() == 2 && (*one).at(0).is_string(); });
  if (!pairs) {
    *this = array(elements);
    return;
  }
  make(JsonKind::kObject);
  for (const auto& one : elements) {
    BasicJson pair = one.release();
    content_.members->add(std::move(*pair.at(0).content_.string), std::move(pair.at(1)));
  }
}

template <bool Ordered>
BasicJson<Ordered> BasicJson<Ordered>::array(Elements elements) {
  BasicJson out;
  out.make(JsonKind::kArray);
  out.content_.list->values.reserve(elements.size());
  for (const auto& one : elements) out.push_back(one.release());
  return out;
}

template <bool Ordered>
BasicJson<Ordered> BasicJson<Ordered>::object() {
  BasicJson out;
  out.make(JsonKind::kObject);
  return out;
}

template <bool Ordered>
BasicJson<Ordered> BasicJson<Ordered>::parse(std::string_view text) {
  Builder builder;
  std::optional<BasicJson> found = builder.build(text, false);
  if (!found) throw builder.reason(text);
  return *std::move(found);
}

template <bool Ordered>
std::optional<BasicJson<Ordered>> BasicJson<Ordered>::try_parse(std::string_view text, Comments comments) {
  return Builder().build(text, comments == Comments::kSkip);
}

template <bool Ordered>
std::string BasicJson<Ordered>::dump(int indent, InvalidUtf8 invalid) const {
  std::string out;
  Writer<Ordered>(out, indent, invalid).write(*this, 0);
  return out;
}

template <bool Ordered>
size_t BasicJson<Ordered>::size() const {
  if (is_array()) return content_.list->values.size();
  if (is_object()) return content_.members->map.size();
  return is_null() ? 0 : 1;
}

template <bool Ordered>
typename BasicJson<Ordered>::Items BasicJson<Ordered>::items() const {
  if (!is_null()) expect(JsonKind::kObject);
  return {first(), last()};
}

template <bool Ordered>
const BasicJson<Ordered>& BasicJson<Ordered>::at(std::string_view key) const {
  if (!is_object()) refuse(304, "cannot use at() with ");
  const Cursor found = locate(key);
  if (found.value == nullptr) raise(403, "key '" + std::string(key) + "' not found");
  return *found.value;
}

template <bool Ordered>
const BasicJson<Ordered>& BasicJson<Ordered>::at(size_t index) const {
  if (!is_array()) refuse(304, "cannot use at() with ");
  if (index >= size()) raise(401, "array index " + std::to_string(index) + " is out of range");
  return content_.list->values[index];
}

template <bool Ordered>
BasicJson<Ordered>& BasicJson<Ordered>::operator[](std::string_view key) {
  if (is_null()) make(JsonKind::kObject);
  if (!is_object()) refuse(305, "cannot use operator[] with a string argument with ");
  return content_.members->add(key, {});
}

template <bool Ordered>
void BasicJson<Ordered>::push_back(BasicJson value) {
  if (is_null()) make(JsonKind::kArray);
  if (!is_array()) refuse(308, "cannot use push_back() with ");
  content_.list->values.push_back(std::move(value));
}

template <bool Ordered>
void BasicJson<Ordered>::update(const BasicJson& other) {
  if (is_null()) make(JsonKind::kObject);
  for (const BasicJson& one : {std::cref(std::as_const(*this)), std::cref(other)})
    if (!one.is_object()) one.refuse(312, "cannot use update() with ");
  for (const auto& [key, value] : other.items()) (*this)[key] = value;
}

template <bool Ordered>
size_t BasicJson<Ordered>::erase(std::string_view key) {
  if (!is_object()) refuse(307, "cannot use erase() with ");
  return content_.members->erase(key);
}

template <bool Ordered>
const std::string& BasicJson<Ordered>::as_string() const {
  expect(JsonKind::kString);
  return *content_.string;
}

template <bool Ordered>
bool BasicJson<Ordered>::as_boolean() const {
  expect(JsonKind::kBoolean);
  return content_.boolean;
}

template <bool Ordered>
bool BasicJson<Ordered>::equals(std::string_view text) const {
  return is_string() && *content_.string == text;
}

template <bool Ordered>
bool BasicJson<Ordered>::operator==(const BasicJson& other) const {
  if (is_number() && other.is_number()) return equals_number(other);
  if (kind_ != other.kind_ || size() != other.size()) return false;
  switch (kind_) {
    case JsonKind::kBoolean: return content_.boolean == other.content_.boolean;
    case JsonKind::kString: return *content_.string == *other.content_.string;
    case JsonKind::kArray: return content_.list->values == other.content_.list->values;
    case JsonKind::kObject: return equals_members(other);
    default: return true;  // null
  }
}

/// Floats decide how two numbers compare, then signed integers: conversions are those of nlohmann/json.
template <bool Ordered>
bool BasicJson<Ordered>::equals_number(const BasicJson& other) const {
  if (kind_ == JsonKind::kFloat || other.kind_ == JsonKind::kFloat) return get<double>() == other.get<double>();
  return content_.number == other.content_.number;
}

template <bool Ordered>
bool BasicJson<Ordered>::equals_members(const BasicJson& other) const {
  Cursor a = first(), b = other.first();
  while (a.value != nullptr && key_at(a) == key_at(b) && *a.value == *b.value) {
    a.advance();
    b.advance();
  }
  return a.value == nullptr;
}

template <bool Ordered>
void BasicJson<Ordered>::next_member(Cursor& at) {
  at = at.members->next(at.node);
}

template <bool Ordered>
const std::string& BasicJson<Ordered>::key_at(const Cursor& at) {
  return Members::key_at(at.node);
}

template <bool Ordered>
std::ostream& BasicJson<Ordered>::print(std::ostream& out, const std::string& text) {
  return out << text;
}

template <bool Ordered>
typename BasicJson<Ordered>::Cursor BasicJson<Ordered>::first() const {
  if (is_object()) return content_.members->first();
  if (is_array()) return {content_.list->values.data()};
  return is_null() ? Cursor{} : Cursor{const_cast<BasicJson*>(this)};
}

template <bool Ordered>
typename BasicJson<Ordered>::Cursor BasicJson<Ordered>::last() const {
  if (is_object()) return content_.members->last();
  if (is_array()) return {content_.list->values.data() + size()};
  return is_null() ? Cursor{} : Cursor{const_cast<BasicJson*>(this) + 1};
}

template <bool Ordered>
typename BasicJson<Ordered>::Cursor BasicJson<Ordered>::locate(std::string_view key) const {
  return is_object() ? content_.members->at(content_.members->map.find(key)) : last();
}

template <bool Ordered>
const BasicJson<Ordered>* BasicJson<Ordered>::member_or_null(std::string_view key) const {
  if (!is_object()) refuse(306, "cannot use value() with ");
  return locate(key).value;
}

template <bool Ordered>
void BasicJson<Ordered>::refuse(int id, std::string_view prefix) const {
  raise(id, std::string(prefix) + name_of(kind_));
}

template <bool Ordered>
void BasicJson<Ordered>::expect(JsonKind kind) const {
  if (kind_ != kind) refuse(302, std::string("type must be ") + name_of(kind) + ", but is ");
}

template <bool Ordered>
void BasicJson<Ordered>::set(std::string_view text) {
  set(std::string(text));
}

template <bool Ordered>
void BasicJson<Ordered>::set(std::string&& text) {
  content_.string = new std::string(std::move(text));
  kind_ = JsonKind::kString;
}

template <bool Ordered>
void BasicJson<Ordered>::make(JsonKind kind) {
  if (kind == JsonKind::kArray) content_.list = new List;
  if (kind == JsonKind::kObject) content_.members = new Members;
  kind_ = kind;
}

template <bool Ordered>
void BasicJson<Ordered>::set_member(std::string&& key, BasicJson value) {
  content_.members->add(std::move(key), std::move(value));
}

template class BasicJson<false>;
template class BasicJson<true>;

}  // namespace npu
