// SPDX-License-Identifier: Apache-2.0
// JSON values with the interface of nlohmann/json, as far as the product uses it. The headers of nlohmann/json take
// seconds to compile, so only json.cpp includes them, for its parser. dump() writes the same bytes as nlohmann/json,
// and errors have the same texts.
//
// A value is null, a boolean, a number, a string, an array or an object, in 16 bytes. Members of a `Json` object are
// sorted by key, those of an `OrderedJson` object stay in the order in which they were added. Finding a member costs
// O(log n). References to members stay valid until the member is erased; references to array elements until the next
// push_back.
//
// Braces mean what they mean to nlohmann/json: a list of pairs that each begin with a string is an object, every other
// list is an array. `Json{value}` is therefore an array of one value.
//
// Thread-safety: that of a standard container. Const members may run in several threads at once.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace npu {

template <bool Ordered>
class BasicJson;
template <bool Ordered>
class JsonElement;
using Json = BasicJson<false>;
using OrderedJson = BasicJson<true>;

/// A value of another type than its reader expects, a missing member, or a text that is not JSON. what() is the text
/// of nlohmann/json: "[json.exception.type_error.302] type must be string, but is null".
class JsonError : public std::runtime_error {
 public:
  JsonError(int id, const std::string& what) : std::runtime_error(what), id_(id) {}
  ~JsonError() override;
  /// The number in what().
  int id() const { return id_; }

 private:
  int id_;
};

/// A text that is not JSON, or that nests deeper than kMaxJsonDepth.
class JsonParseError : public JsonError {
 public:
  static constexpr int kSyntax = 101, kNumberTooLarge = 406;  ///< ids

  JsonParseError(int id, const std::string& what, size_t byte) : JsonError(id, what), byte_(byte) {}
  ~JsonParseError() override;
  /// The position of the last byte that was read, counted from 1.
  size_t byte() const { return byte_; }

 private:
  size_t byte_;
};

/// Levels of arrays and objects that a text may nest. Copying, comparing, writing and destroying a value recurse once a
/// level, in less than 1 KiB of stack each, so that any parsed value is safe on any thread.
inline constexpr size_t kMaxJsonDepth = 512;

enum class JsonKind : uint8_t { kNull, kBoolean, kInteger, kUnsigned, kFloat, kString, kArray, kObject };
/// Whether try_parse() skips // and /* */ comments. strict_json() in json_text.h also drops commas after the last
/// member.
enum class Comments : bool { kRefuse, kSkip };
/// What dump() does with a string that is not UTF-8: raise a JsonError (316), or write U+FFFD for each invalid
/// sequence.
enum class InvalidUtf8 : bool { kRaise, kReplace };

template <class T>
inline constexpr bool kIsJson = false;
template <bool Ordered>
inline constexpr bool kIsJson<BasicJson<Ordered>> = true;

template <class T>
concept JsonString = std::convertible_to<const T&, std::string_view> && !std::same_as<T, std::nullptr_t>;
template <class T>
concept JsonPair = requires {
  typename T::first_type;
  typename T::second_type;
};
template <class T>
concept JsonList = !JsonString<T> && requires(const T& list) {
  typename T::value_type;
  list.begin();
  list.end();
};
template <class T>
concept JsonMap = JsonList<T> && requires { typename T::mapped_type; } && JsonString<typename T::key_type>;
/// C++ types that values are made of: numbers, strings, nullptr, and containers and pairs of these.
template <class T>
concept JsonSource = !kIsJson<T> && (std::is_arithmetic_v<T> || std::same_as<T, std::nullptr_t> || JsonString<T> ||
                                     JsonList<T> || JsonPair<T>);

template <bool Ordered>
class BasicJson {
  struct List;     // of the elements of an array
  struct Members;  // of an object
  class Builder;

  /// A value among those that an iteration visits. `value` is null behind the last member of an object.
  struct Cursor {
    BasicJson* value = nullptr;
    Members* members = nullptr;  ///< null outside of objects
    const void* node = nullptr;  ///< of the member, in `members`
    void advance() {
      if (members == nullptr)
        ++value;
      else
        next_member(*this);
    }
  };

  template <class Value>
  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = BasicJson;
    using difference_type = std::ptrdiff_t;
    using pointer = Value*;
    using reference = Value&;

    Iterator() = default;
    explicit Iterator(const Cursor& at) : at_(at) {}
    Iterator(const Iterator<BasicJson>& other)  // NOLINT: implicit, as of containers
      requires std::is_const_v<Value>
        : at_(other.at_) {}

    Value& operator*() const { return *at_.value; }
    Value* operator->() const { return at_.value; }
    Iterator& operator++() {
      at_.advance();
      return *this;
    }
    Iterator operator++(int) {
      Iterator before = *this;
      at_.advance();
      return before;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.at_.value == b.at_.value; }

   private:
    friend class BasicJson;
    friend class Iterator<const BasicJson>;
    Cursor at_;
  };

  struct Item {
    const std::string& key;
    const BasicJson& value;
  };
  class ItemIterator {
   public:
    explicit ItemIterator(const Cursor& at) : at_(at) {}
    Item operator*() const { return {key_at(at_), *at_.value}; }
    ItemIterator& operator++() {
      at_.advance();
      return *this;
    }
    bool operator==(const ItemIterator& other) const { return at_.value == other.at_.value; }

   private:
    Cursor at_;
  };
  class Items {
   public:
    Items(const Cursor& first, const Cursor& last) : first_(first), last_(last) {}
    ItemIterator begin() const { return ItemIterator(first_); }
    ItemIterator end() const { return ItemIterator(last_); }

   private:
    Cursor first_, last_;
  };

 public:
  using value_type = BasicJson;
  using iterator = Iterator<BasicJson>;
  using const_iterator = Iterator<const BasicJson>;
  using Elements = std::initializer_list<JsonElement<Ordered>>;

  BasicJson() noexcept = default;
  BasicJson(const BasicJson& other);
  BasicJson(BasicJson&& other) noexcept
      : kind_(std::exchange(other.kind_, JsonKind::kNull)), content_(std::exchange(other.content_, Content{})) {}
  BasicJson(Elements elements);  // NOLINT: implicit, as of nlohmann/json; so are the next
  template <std::same_as<char> C>
  BasicJson(const C* text) {  // NOLINT
    set(std::string_view(text));
  }
  template <std::same_as<std::string> S>
  BasicJson(S&& text) {  // NOLINT
    set(std::move(text));
  }
  template <JsonSource T>
  BasicJson(const T& from) : BasicJson() {  // NOLINT
    assign(from);
  }
  BasicJson& operator=(BasicJson other) noexcept {
    swap(other);
    return *this;
  }
  ~BasicJson();

  static BasicJson array(Elements elements = {});
  static BasicJson object();

  /// Raises a JsonParseError.
  static BasicJson parse(std::string_view text);
  /// Returns nothing for a text that parse() refuses.
  static std::optional<BasicJson> try_parse(std::string_view text, Comments comments = Comments::kRefuse);

  /// The JSON text of the value: one line, or for `indent` >= 0 a line for each element, indented by that many blanks a
  /// level. Raises a JsonError (316) for a string that is not UTF-8, unless `invalid` is kReplace.
  std::string dump(int indent = -1, InvalidUtf8 invalid = InvalidUtf8::kRaise) const;

  JsonKind kind() const { return kind_; }
  bool is_null() const { return kind_ == JsonKind::kNull; }
  bool is_boolean() const { return kind_ == JsonKind::kBoolean; }
  bool is_number() const { return is_number_integer() || kind_ == JsonKind::kFloat; }
  /// Signed or unsigned. Integers that were parsed without a minus are unsigned.
  bool is_number_integer() const { return kind_ == JsonKind::kInteger || is_number_unsigned(); }
  bool is_number_unsigned() const { return kind_ == JsonKind::kUnsigned; }
  bool is_string() const { return kind_ == JsonKind::kString; }
  bool is_array() const { return kind_ == JsonKind::kArray; }
  bool is_object() const { return kind_ == JsonKind::kObject; }
  bool is_structured() const { return is_array() || is_object(); }

  /// The number of elements or members; 0 of null, 1 of any other value.
  size_t size() const;
  bool empty() const { return size() == 0; }

  /// Elements of an array, values of the members of an object; any other value but null is its own only element.
  const_iterator begin() const { return const_iterator(first()); }
  const_iterator end() const { return const_iterator(last()); }
  iterator begin() { return iterator(first()); }
  iterator end() { return iterator(last()); }
  /// For `for (const auto& [key, value] : json.items())`. Of null none; raises a JsonError (302) for a value that is
  /// neither null nor an object.
  Items items() const;

  /// The member, or end(), also where this is no object.
  const_iterator find(std::string_view key) const { return const_iterator(locate(key)); }
  bool contains(std::string_view key) const { return locate(key).value != nullptr && is_object(); }

  /// Raise a JsonError where there is no such member or element (403, 401), or this is no object or array (304).
  const BasicJson& at(std::string_view key) const;
  const BasicJson& at(size_t index) const;
  BasicJson& at(std::string_view key) { return const_cast<BasicJson&>(std::as_const(*this).at(key)); }
  BasicJson& at(size_t index) { return const_cast<BasicJson&>(std::as_const(*this).at(index)); }

  /// The member, which is added as null where it is missing; null becomes an object. Raises a JsonError (305) for any
  /// other value. The others are at().
  BasicJson& operator[](std::string_view key);
  const BasicJson& operator[](std::string_view key) const { return at(key); }
  BasicJson& operator[](size_t index) { return at(index); }
  const BasicJson& operator[](size_t index) const { return at(index); }

  /// Null becomes an array. Raises a JsonError (308) for any other value that is no array.
  void push_back(BasicJson value);
  /// Adds the members of `other` and replaces those of the same key. Raises a JsonError (312) unless both are objects.
  void update(const BasicJson& other);
  /// Returns the number of members that were removed. Raises a JsonError (307) unless this is an object.
  size_t erase(std::string_view key);
  void swap(BasicJson& other) noexcept {
    std::swap(kind_, other.kind_);
    std::swap(content_, other.content_);
  }

  /// The value as a T: bool, a number, std::string, a container or a pair of these. Numbers are converted to the type
  /// of number that is asked for. Raises a JsonError (302) for a value of another kind.
  template <class T>
  T get() const {
    if constexpr (kIsJson<T>)
      return *this;
    else if constexpr (std::same_as<T, bool>)
      return as_boolean();
    else if constexpr (std::is_arithmetic_v<T>)
      return as_number<T>();
    else if constexpr (std::same_as<T, std::string>)
      return as_string();
    else
      return as_container<T>();
  }
  /// The string without a copy. Raises a JsonError (302) for any other value.
  const std::string& as_string() const;
  /// The member as a T, a std::string for the default of a literal; `otherwise` where it is missing. Raises a JsonError
  /// for a member of another kind (302), and if this is no object (306).
  template <class T>
  auto value(std::string_view key, T otherwise) const {
    using Out = std::conditional_t<JsonString<T>, std::string, T>;
    const BasicJson* found = member_or_null(key);
    return found == nullptr ? Out(std::move(otherwise)) : found->get<Out>();
  }

  /// Numbers compare by value, whatever their types.
  bool operator==(const BasicJson& other) const;
  template <JsonSource T>
  bool operator==(const T& other) const {
    if constexpr (JsonString<T>)
      return equals(std::string_view(other));
    else
      return *this == BasicJson(other);
  }
  /// Writes dump(); for messages of tests.
  friend std::ostream& operator<<(std::ostream& out, const BasicJson& json) {
    return print(out, json.dump(-1, InvalidUtf8::kReplace));
  }

 private:
  union Content {
    uint64_t number = 0;
    int64_t integer;
    double fraction;
    bool boolean;
    std::string* string;
    List* list;
    Members* members;
  };

  static void next_member(Cursor& at);
  static const std::string& key_at(const Cursor& at);
  static std::ostream& print(std::ostream& out, const std::string& text);
  Cursor first() const;
  Cursor last() const;
  Cursor locate(std::string_view key) const;
  const BasicJson* member_or_null(std::string_view key) const;
  /// Raises a JsonError with the name of this kind behind `prefix`.
  [[noreturn]] void refuse(int id, std::string_view prefix) const;
  void expect(JsonKind kind) const;

  bool as_boolean() const;
  bool equals(std::string_view text) const;
  bool equals_number(const BasicJson& other) const;
  bool equals_members(const BasicJson& other) const;
  void set(std::string_view text);
  void set(std::string&& text);
  /// Null becomes an empty array or object.
  void make(JsonKind kind);
  void set_member(std::string&& key, BasicJson value);

  void set_number(JsonKind kind, const Content& content) {
    kind_ = kind;
    content_ = content;
  }
  template <class T>
  void assign(const T& from) {
    if constexpr (std::is_arithmetic_v<T>)
      assign_number(from);
    else if constexpr (JsonString<T>)
      set(std::string_view(from));
    else if constexpr (!std::same_as<T, std::nullptr_t>)
      assign_container(from);
  }
  template <class T>
  void assign_number(T from) {
    if constexpr (std::same_as<T, bool>)
      set_number(JsonKind::kBoolean, {.boolean = from});
    else if constexpr (std::floating_point<T>)
      set_number(JsonKind::kFloat, {.fraction = static_cast<double>(from)});
    else if constexpr (std::signed_integral<T>)
      set_number(JsonKind::kInteger, {.integer = from});
    else
      set_number(JsonKind::kUnsigned, {.number = from});
  }
  template <class T>
  void assign_container(const T& from) {
    make(JsonMap<T> ? JsonKind::kObject : JsonKind::kArray);
    if constexpr (JsonMap<T>) {
      for (const auto& [key, value] : from) set_member(std::string(key), value);
    } else if constexpr (JsonPair<T>) {
      push_back(from.first);
      push_back(from.second);
    } else {
      for (const auto& one : from) push_back(one);
    }
  }

  /// A boolean is 0 or 1 for all types but those in which numbers are stored, as for nlohmann/json.
  template <class T>
  T as_number() const {
    constexpr bool stored = std::same_as<T, int64_t> || std::same_as<T, uint64_t> || std::same_as<T, double>;
    if (!stored && kind_ == JsonKind::kBoolean) return static_cast<T>(content_.boolean);
    if (kind_ == JsonKind::kUnsigned) return static_cast<T>(content_.number);
    if (kind_ == JsonKind::kInteger) return static_cast<T>(content_.integer);
    if (kind_ != JsonKind::kFloat) refuse(302, "type must be number, but is ");
    return static_cast<T>(content_.fraction);
  }
  template <class T>
  T as_container() const {
    if constexpr (JsonPair<T>) {
      expect(JsonKind::kArray);
      return {at(0).template get<typename T::first_type>(), at(1).template get<typename T::second_type>()};
    } else {
      T out;
      expect(JsonMap<T> ? JsonKind::kObject : JsonKind::kArray);
      if constexpr (JsonMap<T>)
        for (const auto& [key, value] : items()) out.emplace(key, value.template get<typename T::mapped_type>());
      else
        for (const BasicJson& one : *this) out.insert(out.end(), one.template get<typename T::value_type>());
      return out;
    }
  }

  JsonKind kind_ = JsonKind::kNull;
  Content content_ = {};
};

/// One element in braces: a value to copy or to move, or a list in braces of its own.
template <bool Ordered>
class JsonElement {
 public:
  using Value = BasicJson<Ordered>;

  JsonElement() = default;
  JsonElement(Value&& value) : owned_(std::move(value)) {}                        // NOLINT: implicit, all of these
  JsonElement(const Value& value) : borrowed_(&value) {}                          // NOLINT
  JsonElement(std::initializer_list<JsonElement> elements) : owned_(elements) {}  // NOLINT
  JsonElement(const char* text) : owned_(text) {}                                 // NOLINT
  JsonElement(std::string&& text) : owned_(std::move(text)) {}                    // NOLINT
  template <JsonSource T>
  JsonElement(const T& from) : owned_(from) {}  // NOLINT
  JsonElement(const JsonElement&) = delete;
  JsonElement& operator=(const JsonElement&) = delete;
  ~JsonElement() = default;

  const Value& operator*() const { return borrowed_ == nullptr ? owned_ : *borrowed_; }
  /// The value, which is moved where it is owned: to be called once.
  Value release() const { return borrowed_ == nullptr ? std::move(owned_) : *borrowed_; }

 private:
  mutable Value owned_;  ///< elements of a std::initializer_list are const
  const Value* borrowed_ = nullptr;
};

extern template class BasicJson<false>;
extern template class BasicJson<true>;

}  // namespace npu
