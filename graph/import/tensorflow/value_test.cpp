// SPDX-License-Identifier: Apache-2.0
#include "graph/import/tensorflow/value.h"

#include <gtest/gtest.h>

#include "graph/import/tensorflow/message_fixture.h"

namespace npu::graph::tensorflow {
namespace {

template <class Write>
std::string tensor(int type, const std::vector<int64_t>& dims, Write&& write) {
  return message([&](auto& w) {
    write(w);
    w.add_message(field::kTensorShape, shape(dims));
    w.add_enum(field::kDType, type);  // last: nothing obliges a writer to put it first
  });
}

std::string refusal(const std::string& bytes) {
  try {
    parsed("the literal", [&] { return read_literal(bytes); });
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kParseFile);
    return e.message();
  }
  return "accepted";
}

TEST(Literal, TheLastValueFillsTheRest) {
  const std::vector<float> two = {1.5f, -2};
  const Literal l = read_literal(
      tensor(kFloat, {2, 2}, [&](auto& w) { w.add_packed_float(field::kFloatVal, two.begin(), two.end()); }));
  EXPECT_EQ(l.type, ValueType::tensor(DType::kFloat));
  EXPECT_EQ(to_string(Attribute(l)), "float32[2, 2][1.5, -2, -2, -2]");
}

TEST(Literal, NoValueIsZeros) {
  const Literal l = read_literal(tensor(kInt32, {3}, [](auto&) {}));
  EXPECT_EQ(to_string(Attribute(l)), "int32[3][0, 0, 0]");
}

TEST(Literal, ContentIsTheElementsThemselves) {
  const int32_t values[] = {7, -1};
  const Literal l = read_literal(tensor(kInt32, {2}, [&](auto& w) {
    w.add_bytes(field::kContent, reinterpret_cast<const char*>(values), sizeof values);
  }));
  EXPECT_EQ(l.as<int32_t>()[1], -1);
}

TEST(Literal, SmallTypesTravelAsIntegersAndHalvesAsBits) {
  const Literal half = read_literal(tensor(19, {}, [](auto& w) { w.add_int32(field::kHalfVal, 0x3e00); }));
  EXPECT_EQ(to_string(Attribute(half)), "float16[][1.5]");
  const Literal byte = read_literal(tensor(6, {1}, [](auto& w) { w.add_int32(field::kIntVal, -3); }));
  EXPECT_EQ(to_string(Attribute(byte)), "int8[1][-3]");
  const Literal truth = read_literal(tensor(10, {2}, [](auto& w) { w.add_bool(field::kBoolVal, true); }));
  EXPECT_EQ(to_string(Attribute(truth)), "bool[2][true, true]");
  const std::vector<float> pair = {1, -2};
  const Literal complex =
      read_literal(tensor(8, {1}, [&](auto& w) { w.add_packed_float(field::kScomplexVal, pair.begin(), pair.end()); }));
  EXPECT_EQ(to_string(Attribute(complex)), "complex64[1][1-2i]");
}

TEST(Literal, Strings) {
  const Literal l = read_literal(tensor(kString, {2}, [](auto& w) { w.add_string(field::kStringVal, "a\"b"); }));
  EXPECT_EQ(to_string(Attribute(l)), R"(string[2]["a\x22b", "a\x22b"])");
}

TEST(Literal, RefusesWhatDoesNotFit) {
  const auto refused = [](int type, const std::vector<int64_t>& dims) {
    return refusal(tensor(type, dims, [](auto& w) { w.add_string(field::kContent, "12345"); }));
  };
  EXPECT_EQ(refused(kFloat, {1}), "a tensor literal holds 5 bytes where its shape asks for 4");
  EXPECT_EQ(refused(kFloat, {2}), "a tensor literal holds 5 bytes where its shape asks for 8");
  EXPECT_EQ(refused(kFloat, {-1}), "a tensor literal has the shape [?]; every dimension must be known");
  EXPECT_EQ(refused(kFloat, {int64_t{1} << 40}), "a tensor literal of shape [1099511627776] passes 4 GiB");
  EXPECT_EQ(refused(kFloat, {-7}), "a shape has a dimension of -7");
  const std::string whole = tensor(kFloat, {2}, [](auto& w) { w.add_string(field::kContent, "12345678"); });
  EXPECT_EQ(refusal(whole.substr(0, 6)),
            "the literal cannot be read: end of buffer exception; the bytes are cut off or damaged");
  EXPECT_EQ(refusal(message([](auto& w) { w.add_string(field::kDType, "x"); })),
            "field 1 has wire type 2 where 0 belongs");
}

TEST(Attribute, EveryKind) {
  EXPECT_EQ(to_string(read_attribute(int_value(-4))), "-4");
  EXPECT_EQ(to_string(read_attribute(bool_value(true))), "true");
  EXPECT_EQ(to_string(read_attribute(type_value(kFloat + 100))), "float32");
  EXPECT_EQ(to_string(read_attribute(type_value(kResourceType))), "resource");
  EXPECT_EQ(to_string(read_attribute(types_value({kFloat, 21}))), "[float32, variant]");
  EXPECT_EQ(to_string(read_attribute(function_value("body"))), "@body");
  EXPECT_EQ(to_string(read_attribute(message([](auto& w) { w.add_float(field::kF, 0.5f); }))), "0.5");
  EXPECT_EQ(to_string(read_attribute(message([](auto& w) { w.add_string(field::kS, "SAME"); }))), "\"SAME\"");
  EXPECT_EQ(to_string(read_attribute(message([](auto& w) { w.add_message(field::kShape, shape({2, -1})); }))),
            "[2, ?]");
}

TEST(Attribute, AnEmptyListIsAListOfAnyKind) {
  Attributes attributes;
  attributes.set("Tin", read_attribute(types_value({})));
  EXPECT_TRUE(attributes.get<std::vector<ValueType>>("Tin").empty());
  EXPECT_TRUE(attributes.get<std::vector<int64_t>>("Tin").empty());
}

TEST(Attribute, SaysWhatItIsInsteadOfWhatWasAskedFor) {
  Attributes attributes;
  attributes.set("N", read_attribute(bool_value(true)));
  try {
    attributes.get<int64_t>("N");
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.message(), "attribute N is the bool true; it must be of kind int");
  }
  EXPECT_EQ(attributes.find<int64_t>("M"), nullptr);
  EXPECT_EQ(attributes.get_or<int64_t>("M", 3), 3);
}

}  // namespace
}  // namespace npu::graph::tensorflow
