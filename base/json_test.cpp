// SPDX-License-Identifier: Apache-2.0
// nlohmann/json is the reference: of whatever a text is, both parse it to the same value, write the same bytes, and
// refuse with the same words.
#include "base/json.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <sstream>
#include <thread>
#include <vector>

namespace npu {
namespace {

template <class T>
struct Reference;
template <>
struct Reference<Json> {
  using Type = nlohmann::json;
};
template <>
struct Reference<OrderedJson> {
  using Type = nlohmann::ordered_json;
};

/// What `read` raises, with the place of a text that is not JSON; "" for nothing.
template <class Read>
std::string refusal(Read&& read) {
  try {
    read();
    return "";
  } catch (const JsonParseError& e) {
    return std::string(e.what()) + " @" + std::to_string(e.byte());
  } catch (const JsonError& e) {
    return e.what();
  }
}

template <class Read>
std::string reference_refusal(Read&& read) {
  try {
    read();
    return "";
  } catch (const nlohmann::json::parse_error& e) {
    return std::string(e.what()) + " @" + std::to_string(e.byte);
  } catch (const nlohmann::json::exception& e) {
    return e.what();
  }
}

template <class J>
class JsonBoth : public testing::Test {
 protected:
  using R = typename Reference<J>::Type;

  static void expect_same(const std::string& text) {
    const std::optional<J> found = J::try_parse(text);
    const R expected = R::parse(text, nullptr, false);
    ASSERT_EQ(found.has_value(), !expected.is_discarded()) << text;
    if (!found) return;
    for (const int indent : {-1, 0, 1, 3}) EXPECT_EQ(found->dump(indent), expected.dump(indent)) << text;
    const J copy = *found;
    EXPECT_EQ(copy, *found) << text;
    EXPECT_EQ(J::parse(found->dump(2)).dump(), expected.dump()) << text;
  }

  static void expect_same_refusal(const std::string& text) {
    const std::string expected = reference_refusal([&] { return R::parse(text); });
    std::string found = refusal([&] { J::parse(text); });
    // The reference gives no place for a number that is too large.
    if (expected.find("out_of_range.406") != expected.npos) found.resize(found.rfind(" @"));
    EXPECT_EQ(found, expected) << text;
  }
};
using Types = testing::Types<Json, OrderedJson>;
TYPED_TEST_SUITE(JsonBoth, Types);

constexpr std::array kDocuments = {"null",
                                   "true",
                                   "false",
                                   "0",
                                   "-0",
                                   "-0.0",
                                   "0.0",
                                   "1",
                                   "-1",
                                   "1.5",
                                   "1e3",
                                   "1E+3",
                                   "1e-7",
                                   "123456789012345678",
                                   "18446744073709551615",
                                   "18446744073709551616",
                                   "-9223372036854775808",
                                   "-9223372036854775809",
                                   "0.1",
                                   "1e22",
                                   "1e15",
                                   "1e16",
                                   "123456.789e300",
                                   "5e-324",
                                   "2.2250738585072014e-308",
                                   "1.7976931348623157e308",
                                   "9007199254740993.0",
                                   "3.141592653589793",
                                   "0.30000000000000004",
                                   "5.0e-5",
                                   "[]",
                                   "{}",
                                   "[[]]",
                                   "[{}]",
                                   "{\"a\":{}}",
                                   "\"\"",
                                   "\"text\"",
                                   R"("\"\\\/\b\f\n\r\t")",
                                   R"("\u0000\u001f\u007f\u0080\u07ff\u0800\uffff")",
                                   R"("\ud83d\ude00")",
                                   "\"ä日本😀\"",
                                   "\"\x7f\"",
                                   "[1,2,3]",
                                   "[1, [2, [3, {\"a\": [null]}]], true]",
                                   "{\"b\":1,\"a\":2,\"c\":3}",
                                   "{\"b\":1,\"a\":2,\"b\":3}",
                                   "{\"a\":{\"x\":1},\"b\":0,\"a\":{\"y\":2}}",
                                   "{\"a\":[1],\"a\":[]}",
                                   "{\"\":1}",
                                   " \t\r\n{ \"a\" : [ 1 , 2 ] } \n",
                                   "\xEF\xBB\xBF[1]",
                                   "{\"10\":1,\"9\":2,\"A\":3,\"a\":4,\"ä\":5}"};

constexpr std::array kNoDocuments = {"",
                                     " ",
                                     "nul",
                                     "tru",
                                     "True",
                                     "+1",
                                     "01",
                                     "1.",
                                     ".5",
                                     "1e",
                                     "-",
                                     "--1",
                                     "0x10",
                                     "NaN",
                                     "Infinity",
                                     "[",
                                     "]",
                                     "[1",
                                     "[1,",
                                     "[1,]",
                                     "[,1]",
                                     "[1 2]",
                                     "{",
                                     "}",
                                     "{\"a\"",
                                     "{\"a\":",
                                     "{\"a\":1",
                                     "{\"a\":1,",
                                     "{\"a\":1,}",
                                     "{a:1}",
                                     "{1:2}",
                                     "{\"a\" 1}",
                                     "{\"a\":1 \"b\":2}",
                                     "\"",
                                     "\"a",
                                     "\"\\",
                                     "\"\\x\"",
                                     "\"\\u12\"",
                                     "\"\\u12g4\"",
                                     "\"\\ud83d\"",
                                     "\"\\ud83dx\"",
                                     "\"\\ude00\"",
                                     "\"\n\"",
                                     "\"\t\"",
                                     "\"\x01\"",
                                     "\"\xff\"",
                                     "\"\xc3\"",
                                     "\"\xed\xa0\x80\"",
                                     "\"\xf5\x80\x80\x80\"",
                                     "1 2",
                                     "[] x",
                                     "{}{}",
                                     "// comment\n1",
                                     "[1, /* two */ 2]",
                                     "\xEF\xBB",
                                     "\xEF\xBB\xBF",
                                     "[\n1,\n  x]",
                                     "{\"a\":\n\n  \"b\n\"}",
                                     "'a'",
                                     "[1e999]",
                                     "-1e999",
                                     "{\"a\":\n 1e999 }"};

TYPED_TEST(JsonBoth, DocumentsAreThoseOfTheReference) {
  for (const char* text : kDocuments) this->expect_same(text);
  this->expect_same(std::string("\"\\u0000\"\0", 9));
}

TYPED_TEST(JsonBoth, RefusalsAreThoseOfTheReference) {
  for (const char* text : kNoDocuments) {
    this->expect_same(text);
    this->expect_same_refusal(text);
  }
}

/// Random documents, of values at the limits of their types.
class Documents {
 public:
  explicit Documents(uint32_t seed) : random_(seed) {}

  std::string value(int depth) {
    switch (below(depth > 0 ? 9 : 6)) {
      case 0: return below(2) ? "true" : "null";
      case 1: return std::to_string(static_cast<int64_t>(bits() >> below(64)) * (below(2) ? 1 : -1));
      case 2: return std::to_string(bits() >> below(64));
      case 3: return number(std::bit_cast<double>(bits()));
      case 4: return number(static_cast<double>(below(1000000)) / 1000);
      case 5: return text();
      case 6: return list('[', ']', [&] { return value(depth - 1); });
      default: return list('{', '}', [&] { return text() + ":" + blank() + value(depth - 1); });
    }
  }
  /// Bytes of which most are no UTF-8.
  std::string bytes() {
    static constexpr std::string_view kBytes =
        "a\"\\\x01\x7f\x80\xbf\xc2\xdf\xe0\xa0\xed\x9f\xef\xf0\x90\xf4\x8f\xf5\xff";
    std::string out;
    for (size_t i = below(8); i > 0; --i) out += kBytes[below(kBytes.size())];
    return out;
  }
  std::string damaged(std::string text) {
    if (text.empty()) return text;
    const size_t at = below(text.size());
    if (below(2))
      text.erase(at, 1 + below(3));
    else
      text[at] = static_cast<char>(below(256));
    return text;
  }

 private:
  uint64_t bits() { return random_(); }
  size_t below(size_t limit) { return random_() % limit; }
  std::string blank() { return std::string(below(2), " \n"[below(2)]); }
  std::string number(double value) {
    std::ostringstream out;
    out.precision(static_cast<int>(1 + below(17)));
    out << (std::isfinite(value) ? value : 0.5);
    return out.str();
  }
  std::string text() {
    static constexpr std::array kParts = {"a", "key", "Z",  "\\n",     "\\\"", "\\u00e4",
                                          "ä", "日",  "😀", "\\u0007", "/",    "0"};
    std::string out = "\"";
    for (size_t i = below(4); i > 0; --i) out += kParts[below(kParts.size())];
    return out + "\"";
  }
  template <class Element>
  std::string list(char begin, char end, Element&& element) {
    std::string out(1, begin);
    for (size_t i = 0, count = below(6); i < count; ++i) out += (i == 0 ? "" : ",") + blank() + element();
    return out + blank() + end;
  }

  std::mt19937_64 random_;
};

TYPED_TEST(JsonBoth, RandomDocumentsAreThoseOfTheReference) {
  Documents documents(20240117);
  for (int i = 0; i < 3000; ++i) {
    const std::string text = documents.value(5);
    this->expect_same(text);
    const std::string damaged = documents.damaged(text);
    this->expect_same(damaged);
    this->expect_same_refusal(damaged);
  }
}

TYPED_TEST(JsonBoth, TextsThatAreNoUtf8AreReplacedOrRefused) {
  using R = typename Reference<TypeParam>::Type;
  Documents documents(7);
  for (int i = 0; i < 5000; ++i) {
    const std::string bytes = documents.bytes();
    const TypeParam json{{bytes, {bytes, "a"}}};
    const R expected{{bytes, {bytes, "a"}}};
    EXPECT_EQ(json.dump(1, InvalidUtf8::kReplace), expected.dump(1, ' ', false, R::error_handler_t::replace));
    EXPECT_EQ(refusal([&] { json.dump(); }), reference_refusal([&] { return expected.dump(); }));
  }
}

/// One value made in C++ by both, as the product makes them.
template <class J>
std::vector<J> made() {
  const std::map<std::string, int> map = {{"b", 1}, {"a", 2}};
  const J value = 5, list = {"x", 1};
  J grown;
  grown["list"].push_back(1);
  grown["list"].push_back({{"a", 1}, {"b", nullptr}});
  grown["object"]["inside"] = true;
  return {J(),
          nullptr,
          true,
          -5,
          5,
          5u,
          int64_t{-1},
          uint64_t{1} << 63,
          2.5f,
          0.1,
          "text",
          std::string("text"),
          std::string_view("text"),
          std::numeric_limits<double>::quiet_NaN(),
          std::vector<int64_t>{1, 2},
          std::vector<bool>{true, false},
          std::vector<std::string>{"a", "b"},
          std::array<double, 2>{1, 0.5},
          std::set<std::string>{"b", "a"},
          std::deque<std::string>{"b", "a"},
          std::vector<std::pair<std::string, std::string>>{{"a", "b"}},
          std::pair<int, double>{1, 2},
          map,
          grown,
          J::array(),
          J::object(),
          J::array({1}),
          J::array({{"a", 1}, {"b", 2}}),
          J{},
          J{1},
          J{value},
          J({"out"}),
          J{{"a", 1}},
          J{{"a", 1}, {"b", {1, 2}}},
          J{{"a", 1}, {"a", 2}},
          J{{"a", 1}, {"b"}},
          J{{"a", 1}, {2, 3}},
          J{{"a", value}, {"list", list}, {"map", map}, {"none", nullptr}, {"empty", {}}},
          J{list, list},
          J{{{"a", 1}}, {{"b", {{"c", 2}}}}},
          J{{"report", {{{"basic", 1}}, {{"kind", list}}}}}};
}

TYPED_TEST(JsonBoth, ValuesOfCppAreThoseOfTheReference) {
  const auto values = made<TypeParam>();
  const auto expected = made<typename Reference<TypeParam>::Type>();
  ASSERT_EQ(values.size(), expected.size());
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(values[i].dump(), expected[i].dump()) << i;
    EXPECT_EQ(values[i].size(), expected[i].size()) << i;
    EXPECT_EQ(values[i].empty(), expected[i].empty()) << i;
    EXPECT_EQ(values[i].is_number_integer(), expected[i].is_number_integer()) << i;
    EXPECT_EQ(values[i].is_number_unsigned(), expected[i].is_number_unsigned()) << i;
    EXPECT_EQ(values[i].is_structured(), expected[i].is_structured()) << i;
    for (size_t j = 0; j < values.size(); ++j)
      EXPECT_EQ(values[i] == values[j], expected[i] == expected[j]) << i << " " << j;
  }
}

/// What each reader raises for each kind of value.
template <class J, class Refusal>
std::vector<std::string> misuses(Refusal&& refusal) {
  std::vector<std::string> out;
  for (const char* text : {"null", "true", "1", "-1", "1.5", "\"text\"", "[1]", "{\"a\": 1}"}) {
    const J json = J::parse(text);
    J changed = json;
    const auto add = [&](auto&& read) { out.push_back(refusal([&] { static_cast<void>(read()); })); };
    add([&] { return json.template get<bool>(); });
    add([&] { return json.template get<int64_t>(); });
    add([&] { return json.template get<int>(); });
    add([&] { return json.template get<double>(); });
    add([&] { return json.template get<float>(); });
    add([&] { return json.template get<std::string>(); });
    add([&] { return json.template get<std::vector<int>>(); });
    add([&] { return json.template get<std::set<std::string>>(); });
    add([&] { return json.template get<std::map<std::string, std::string>>(); });
    add([&] { return json.template get<std::pair<int, int>>(); });
    add([&] { return json.at("missing").size(); });
    add([&] { return json.at(7).size(); });
    add([&] { return json.value("a", 1); });
    add([&] { return json.value("a", "text"); });
    add([&] { return json.value("missing", "text"); });
    add([&] { return changed["missing"].size(); });
    add([&] { return J(json).erase("missing"); });
    add([&] { return J(json).push_back(1), 0; });
    add([&] { return J(json).update(J::object()), 0; });
    add([&] { return J(J::object()).update(json), 0; });
  }
  return out;
}

TYPED_TEST(JsonBoth, MisuseIsRefusedAsByTheReference) {
  const auto found = misuses<TypeParam>([](auto&& read) { return refusal(read); });
  const auto expected =
      misuses<typename Reference<TypeParam>::Type>([](auto&& read) { return reference_refusal(read); });
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i], expected[i]) << i;
}

TYPED_TEST(JsonBoth, ReadsNumbersAsAnyType) {
  const TypeParam json = TypeParam::parse("[1, -1, 2.75, 18446744073709551615, true]");
  EXPECT_EQ(json[0].template get<int>(), 1);
  EXPECT_EQ(json[0].template get<double>(), 1.0);
  EXPECT_EQ(json[1].template get<int64_t>(), -1);
  EXPECT_EQ(json[1].template get<uint32_t>(), 0xFFFFFFFFu);
  EXPECT_EQ(json[2].template get<int>(), 2);
  EXPECT_EQ(json[2].template get<float>(), 2.75f);
  EXPECT_EQ(json[3].template get<uint64_t>(), ~uint64_t{0});
  EXPECT_EQ(json[4].template get<int>(), 1);
  EXPECT_EQ(json[4].template get<bool>(), true);
}

TYPED_TEST(JsonBoth, ComparesWithValuesOfCpp) {
  const TypeParam json = TypeParam::parse(R"({"a": 1, "b": "x", "c": [1, 2], "d": 1.0, "e": -1})");
  EXPECT_TRUE(json["a"] == 1 && json["a"] == 1u && json["a"] == 1.0 && 1 == json["a"] && json["a"] == json["d"]);
  EXPECT_TRUE(json["a"] != 2 && json["a"] != "1" && json["a"] != true && json["e"] == -1);
  EXPECT_TRUE(json["b"] == "x" && json["b"] == std::string("x") && "x" == json["b"] && json["b"] != "y");
  EXPECT_EQ(json["c"], (std::vector<int>{1, 2}));
  EXPECT_NE(json["c"], (std::vector<int>{1, 3}));
  EXPECT_NE(json["c"], (std::vector<int>{1}));
}

TYPED_TEST(JsonBoth, VisitsWhatIsInside) {
  TypeParam json = {{"c", 1}, {"a", 2}, {"b", 3}};
  std::string keys, values;
  for (const auto& [key, value] : json.items()) keys += key + value.dump();
  for (TypeParam& value : json) value = value.template get<int>() * 2;
  for (const TypeParam& value : std::as_const(json)) values += value.dump();
  EXPECT_EQ(keys, (std::is_same_v<TypeParam, Json> ? "a2b3c1" : "c1a2b3"));
  EXPECT_EQ(values, (std::is_same_v<TypeParam, Json> ? "462" : "246"));
  EXPECT_TRUE(TypeParam().items().begin() == TypeParam().items().end());
  EXPECT_EQ(refusal([] { TypeParam::array().items(); }),
            "[json.exception.type_error.302] type must be object, but is array");
  size_t visits = 0;
  for (const char* text : {"null", "[]", "{}", "[1, 2]", "5", "\"x\""})
    for (const TypeParam& one : TypeParam::parse(text)) visits += one.is_null() ? 0 : 1;
  EXPECT_EQ(visits, 4u) << "a number and a text are their own only element";
}

TYPED_TEST(JsonBoth, FindsMembersAndGoesOnFromThere) {
  const TypeParam json = TypeParam::parse(R"({"c": 1, "a": 2, "b": 3})");
  auto at = json.find("a");
  ASSERT_NE(at, json.end());
  EXPECT_EQ(*at++, 2);
  EXPECT_EQ(*at, 3);
  EXPECT_EQ(json.find("d"), json.end());
  EXPECT_FALSE(json.contains("d") || TypeParam("c").contains("c") || TypeParam::array().contains("c"));
  const TypeParam number = 5;
  EXPECT_EQ(number.find("x"), number.end());
  EXPECT_TRUE(std::ranges::all_of(json, [](const TypeParam& one) { return one.is_number(); }));
}

TYPED_TEST(JsonBoth, MembersAreAddedReplacedAndErased) {
  TypeParam json;
  TypeParam& first = json["first"];
  for (int i = 0; i < 1000; ++i) json["key" + std::to_string(i)] = i;
  first = "still there";
  EXPECT_EQ(json["first"], "still there");
  EXPECT_EQ(json.erase("key0") + json.erase("key500") + json.erase("key999") + json.erase("none"), 3u);
  EXPECT_EQ(json.size(), 998u);
  json.update({{"key1", "new"}, {"last", nullptr}});
  EXPECT_EQ(json["key1"], "new");
  EXPECT_EQ(json.size(), 999u);
  EXPECT_EQ(json.dump(), Reference<TypeParam>::Type::parse(json.dump()).dump());
  auto at = json.find("key499");
  EXPECT_EQ(*++at, (std::is_same_v<TypeParam, OrderedJson> ? 501 : 5));
}

TYPED_TEST(JsonBoth, CommentsAreSkippedOnRequest) {
  const char* text = "// \"one\n[1, /* [\" */ 2] // end";
  EXPECT_FALSE(TypeParam::try_parse(text));
  EXPECT_EQ(TypeParam::try_parse(text, Comments::kSkip).value().dump(), "[1,2]");
  EXPECT_FALSE(TypeParam::try_parse("[1,] // end", Comments::kSkip));
}

std::string nested(size_t levels, const std::string& open, const std::string& inside, const std::string& close) {
  std::string out;
  for (size_t i = 0; i < levels; ++i) out += open;
  out += inside;
  for (size_t i = 0; i < levels; ++i) out += close;
  return out;
}

TYPED_TEST(JsonBoth, TheDeepestTextIsReadWrittenAndCompared) {
  for (const std::string& text : {nested(kMaxJsonDepth, "[", "", "]"), nested(kMaxJsonDepth, "{\"a\":", "1", "}")}) {
    const TypeParam json = TypeParam::parse(text);
    const TypeParam copy = json;
    EXPECT_EQ(copy, json);
    EXPECT_EQ(copy.dump(), text);
    EXPECT_FALSE(copy.dump(1).empty());
  }
  this->expect_same(nested(kMaxJsonDepth / 2, "[{\"a\":", "null", "}]"));
}

TYPED_TEST(JsonBoth, DeeperTextsAreRefused) {
  const std::string reason = ": arrays and objects nest deeper than 512 levels @";
  const std::string head = "[json.exception.parse_error.101] parse error at line ";
  const auto refused = [](const std::string& text) { return refusal([&] { TypeParam::parse(text); }); };
  EXPECT_EQ(refused(nested(kMaxJsonDepth + 1, "[", "", "]")), head + "1, column 513" + reason + "513");
  EXPECT_EQ(refused(std::string(10 << 20, '[')), head + "1, column 513" + reason + "513");
  EXPECT_EQ(refused(nested(2 << 20, "{\"a\":", "1", "}")), head + "1, column 2561" + reason + "2561");
  EXPECT_EQ(refused("[\"[\\\"[\",\n  " + nested(kMaxJsonDepth, "[", "", "]")), head + "2, column 514" + reason + "523");
  EXPECT_FALSE(TypeParam::try_parse(std::string(10 << 20, '[')));
  EXPECT_FALSE(TypeParam::try_parse("/* \" */ [ // [\n" + nested(600, "[", "", "]"), Comments::kSkip));
}

#ifdef __SANITIZE_ADDRESS__
constexpr size_t kSmallStack = 4 << 20;  // frames of the sanitizer are larger
#else
constexpr size_t kSmallStack = 256 << 10;
#endif

TYPED_TEST(JsonBoth, TheDeepestValueIsSafeOnASmallStack) {
  const std::string text = nested(kMaxJsonDepth / 2, "[{\"a\":", "1", "}]");
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kSmallStack);
  pthread_t thread;
  const auto run = [](void* text) -> void* {
    const TypeParam json = TypeParam::parse(*static_cast<const std::string*>(text));
    const TypeParam copy = json;
    return copy == json && copy.dump() == *static_cast<const std::string*>(text) ? text : nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, run, const_cast<std::string*>(&text)), 0);
  void* result = nullptr;
  pthread_join(thread, &result);
  pthread_attr_destroy(&attributes);
  EXPECT_NE(result, nullptr);
}

TYPED_TEST(JsonBoth, ManyMembersCostNoSquare) {
  std::mt19937 random(1);
  std::string text = "{\"\":0";
  for (int i = 0; i < 200000; ++i) text += ",\"" + std::to_string(random()) + "\":1";
  const TypeParam json = TypeParam::parse(text + "}");
  EXPECT_GT(json.size(), 190000u);
  EXPECT_EQ(json, TypeParam(json));
}

TEST(JsonParseError, HasThePlaceOfANumberThatIsTooLarge) {
  EXPECT_EQ(refusal([] { Json::parse("[1,\n 1e999]"); }),
            "[json.exception.out_of_range.406] number overflow parsing '1e999' @10");
}

TEST(Json, IsSmall) {
  EXPECT_EQ(sizeof(Json), 16u);
  EXPECT_EQ(sizeof(OrderedJson), 16u);
}

}  // namespace
}  // namespace npu
