// SPDX-License-Identifier: Apache-2.0
#include "base/json_text.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"

namespace npu {
namespace {

TEST(JsonText, RemarksAndLastCommasAreBlanks) {
  EXPECT_EQ(strict_json("{\"a\": 1, // one\n \"b\": [2,],}"), "{\"a\": 1,       \n \"b\": [2 ] }");
  EXPECT_EQ(strict_json("{\"a\": /* x\ny */ 1, /* last */ }"), "{\"a\":     \n     1             }");
  EXPECT_EQ(strict_json("[1, // last\r\n]"), "[1         \r\n]");
}

TEST(JsonText, StringsStay) {
  for (const char* text : {R"({"url": "http://a/*b*/", "c": ",}", "d\"//": "\\"})", "[]", "", "\"//"})
    EXPECT_EQ(strict_json(text), text);
}

TEST(JsonText, WhatIsWrongStaysWrong) {
  for (const char* text : {"[1,,]", "[,]", "{\"a\" 1}", "/* open", "[1 / 2]", "[1], // end\n", "{\"a\": // x"})
    EXPECT_FALSE(Json::try_parse(strict_json(text))) << text;
}

TEST(JsonText, PlacesStay) {
  const std::string text = "{ // ä\n\"a\": /* 日本 */ [1,\n], \"b\": 2,\n}\n// end";
  EXPECT_EQ(strict_json(text).size(), text.size());
  EXPECT_EQ(Json::parse(strict_json(text)).at("b"), 2);
  EXPECT_EQ(strict_json(text).find("\"b\""), text.find("\"b\""));
}

TEST(JsonText, NumbersThatAreTooLargeAreRefused) {
  try {
    parse_json("{\"a\": 1,\n \"b\": 1e999}");
    ADD_FAILURE() << "it is taken";
  } catch (const Error& e) {
    EXPECT_EQ(e.message(), "line 2, column 7: 1e999 is a number that is too large");
  }
}

TEST(JsonText, TextsThatNestTooDeeplyAreRefused) {
  try {
    parse_json("{\"a\":\n" + std::string(600, '['));
    ADD_FAILURE() << "it is taken";
  } catch (const Error& e) {
    EXPECT_EQ(e.message(),
              "line 2, column 512: this is no JSON (which has a comma between members): arrays and objects nest deeper "
              "than 512 levels");
  }
}

}  // namespace
}  // namespace npu
