// SPDX-License-Identifier: Apache-2.0
// The door of conversion: what atc asks for, and wrong calls.
#include <gtest/gtest.h>

#include "acl/include/anynpu/model.h"
#include "acl/model/model_fixture.h"
#include "base/json.h"

namespace npu::acl {
namespace {

void take(const void* bytes, size_t size, void* context) {
  static_cast<std::string*>(context)->assign(static_cast<const char*>(bytes), size);
}

class ConversionDoor : public OnDevice {
 protected:
  static void expect_refused(aclError code, const char* word, aclError got) {
    EXPECT_EQ(got, code);
    const std::string text = aclGetRecentErrMsg();
    EXPECT_NE(text.find(word), std::string::npos) << text;
  }
  const std::string om_ = scaled_model({2, 3}, {{"soc_version", "Ascend310"}, {"command_line", "atc --model=a"}});
};

TEST_F(ConversionDoor, TellsOfModels) {
  std::string text;
  EXPECT_OK(anynpu_model_facts(om_.data(), om_.size(), take, &text));
  const auto facts = Json::parse(text);
  EXPECT_EQ(facts.at("facts").at("soc"), "Ascend310");
  EXPECT_EQ(facts.at("facts").at("command"), "atc --model=a");
  EXPECT_EQ(facts.at("inputs").at(0).at("name"), "x");
  EXPECT_GT(facts.at("sections").at("weights").get<int64_t>(), 0);
  EXPECT_GE(facts.at("nodes").at("before").get<int64_t>(), facts.at("nodes").at("after").get<int64_t>());
  EXPECT_OK(anynpu_model_json(om_.data(), om_.size(), 0, take, &text));
  EXPECT_EQ(Json::parse(text).at("graph").at(0).at("name"), "main");
}

TEST_F(ConversionDoor, FindsDamagedWeights) {
  std::string damaged = om_, text;
  damaged.back() = static_cast<char>(damaged.back() ^ 1);
  expect_refused(100012, "weights are damaged", anynpu_model_facts(damaged.data(), damaged.size(), take, &text));
  EXPECT_OK(anynpu_model_json(damaged.data(), damaged.size(), 1, take, &text)) << "nobody looks at them there";
}

TEST_F(ConversionDoor, WrongCalls) {
  std::string text;
  const char* flags[] = {"input_shape", "x"};
  const auto convert = [&](int framework, const char* bytes, size_t size, const char* const* given, size_t count,
                           anynpu_take taker) {
    return anynpu_model_convert(static_cast<anynpu_framework>(framework), bytes, size, "m", nullptr, given, count,
                                nullptr, taker, &text);
  };
  expect_refused(100000, "E10002", convert(5, "x", 1, flags, 1, take));
  expect_refused(100000, "Caffe", convert(0, "x", 1, nullptr, 0, take));
  expect_refused(100000, "MindSpore", convert(1, "x", 1, nullptr, 0, take));
  expect_refused(100000, "--framework=2", convert(2, "x", 1, nullptr, 0, take));
  expect_refused(100000, "E10041", convert(5, "x", 0, nullptr, 0, take));
  expect_refused(100006, "", convert(5, "no model", 8, nullptr, 0, take));
  expect_refused(100000, "model is null", convert(5, nullptr, 8, nullptr, 0, take));
  expect_refused(100000, "take_om is null", convert(5, "x", 1, nullptr, 0, nullptr));
  expect_refused(100000, "flags is null", convert(5, "x", 1, nullptr, 1, take));
  expect_refused(100012, "no container", anynpu_model_json("hello", 5, 1, take, &text));
  expect_refused(100000, "take_text is null", anynpu_model_facts(om_.data(), om_.size(), nullptr, &text));
  EXPECT_OK(anynpu_model_check(ANYNPU_ONNX, "no model", 8, nullptr, nullptr, 0, take, &text));
  EXPECT_EQ(Json::parse(text).at("result"), "failed");
}

}  // namespace
}  // namespace npu::acl
