// SPDX-License-Identifier: Apache-2.0
#include "graph/model/aipp.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "graph/graph_fixture.h"
#include "graph/model/aipp_fixture.h"

namespace npu::graph::model {
namespace {

std::string refusal_of(std::string_view text) {
  try {
    read_aipp(text, "a.cfg");
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kNnInvalidParam);
    return e.message();
  }
  return "";
}

std::string in_static(std::string_view fields) {
  return refusal_of(fmt::format("aipp_op {{\n  aipp_mode: static input_format: RGB888_U8\n  {}\n}}", fields));
}

TEST(AippConfiguration, ReadsTheKeysOfTheTemplate) {
  const std::vector<Aipp> read = read_aipp(kAippText, "a.cfg");
  ASSERT_EQ(read.size(), 2U);
  const Aipp& first = read[0];
  EXPECT_EQ(first.input_format, "YUV420SP_U8");
  EXPECT_EQ(first.src_image_size_w, 256);
  EXPECT_EQ(first.load_start_pos_w, 16);
  EXPECT_EQ(first.crop_size_h, 0);
  EXPECT_EQ(first.matrix[2], 359);
  EXPECT_EQ(first.matrix[4], -100);  // the default
  EXPECT_EQ(first.input_bias[0], 0);
  EXPECT_EQ(first.mean[0], 104);
  EXPECT_DOUBLE_EQ(first.min[1], 116.28);
  EXPECT_DOUBLE_EQ(first.var_reci[1], -0.02);
  EXPECT_FALSE(first.dynamic());
  EXPECT_TRUE(read[1].dynamic());
  EXPECT_EQ(read[1].related_input_name, "second");
}

TEST(AippConfiguration, TellsWhereAndWhy) {
  EXPECT_EQ(in_static("src_image_size_w: 9000"),
            "E10052: a.cfg: line 3, column 21: src_image_size_w is 9000; it lies between 0 and 4096");
  EXPECT_NE(in_static("mean_chn_0: 123.675").find("min_chn"), std::string::npos);
  EXPECT_NE(in_static("min_chn_0: nan").find("between 0 and 255"), std::string::npos);
  EXPECT_NE(in_static("var_reci_chn_0: fast").find("a number"), std::string::npos);
  EXPECT_NE(in_static("crop: yes").find("true or false"), std::string::npos);
  EXPECT_NE(in_static("crop: true crop: true").find("given twice"), std::string::npos);
  EXPECT_NE(in_static("colour: 1").find("no key 'colour'"), std::string::npos);
  EXPECT_NE(in_static("crop true").find("':' is missing"), std::string::npos);
  EXPECT_NE(in_static("resize: true").find("not built"), std::string::npos);
  EXPECT_NE(in_static("ax_swap_switch: true").find("fourth channel"), std::string::npos);
  EXPECT_NE(in_static("related_input_name: \"x").find("no end"), std::string::npos);
  EXPECT_NE(refusal_of("").find("no aipp_op"), std::string::npos);
  EXPECT_NE(refusal_of("aipp { }").find("'aipp' stands where"), std::string::npos);
  EXPECT_NE(refusal_of("aipp_op { aipp_mode: static").find("closing brace"), std::string::npos);
  EXPECT_NE(refusal_of("aipp_op { }").find("aipp_mode is missing"), std::string::npos);
  EXPECT_NE(refusal_of("aipp_op { aipp_mode: sometimes }").find("static or dynamic"), std::string::npos);
  EXPECT_NE(refusal_of("aipp_op { aipp_mode: static }").find("input_format is missing"), std::string::npos);
  EXPECT_NE(refusal_of("aipp_op { aipp_mode: static input_format: RAW16 }").find("built are YUV420SP_U8"),
            std::string::npos);
  EXPECT_NE(refusal_of("aipp_op { aipp_mode: dynamic }").find("max_src_image_size"), std::string::npos);
  EXPECT_NE(refusal_of("aipp_op { aipp_mode: static input_format: YUV420SP_U8 src_image_size_w: 3 }").find("even"),
            std::string::npos);
}

TEST(AippConfiguration, ComesBackFromJsonAndAttributes) {
  for (const Aipp& aipp : read_aipp(kAippText, "a.cfg")) {
    const Json json = to_json(aipp);
    EXPECT_EQ(to_json(aipp_from_json(json)), json);
    Attributes attributes;
    set_attributes(aipp, attributes);
    EXPECT_EQ(to_json(aipp_of(attributes)), json);
  }
  EXPECT_THROW(aipp_from_json(Json::object()), Error);
  Json wrong = to_json(read_aipp(kAippText, "a.cfg")[0]);
  wrong["input_format"] = 3;
  EXPECT_THROW(aipp_from_json(wrong), Error);
}

/// A model of two inputs: pictures, and what is added to them.
struct Model {
  TestFunction f{"model"};
  Edge picture, second;
  Model(const Dims& shape = {2, 3, 64, 224}, DType dtype = DType::kFloat) {
    picture = f.argument("data", ValueType::tensor(dtype)), second = f.argument("second", ValueType::tensor(dtype));
    for (Argument& argument : f.function()->arguments) {
      argument.value.shape = {shape};
      (*f.function())[argument.node].outputs[0].shape = {shape};
    }
    f.result(f.node("AddV2", {picture, second}, ValueType::tensor(dtype)));
  }
  Function& function() { return *f.function(); }
  const Output& input(size_t i) { return function().arguments[i].value; }
};

TEST(AippConfiguration, IsPutBetweenAnInputAndItsUses) {
  Model model;
  const std::vector<Aipp> done = insert_aipp(model.function(), read_aipp(kAippText, "a.cfg"), false);
  EXPECT_EQ(done[0].crop_size_h, 64);  // as the model takes it
  EXPECT_EQ(done[1].model_shape, (std::vector<int64_t>{2, 3, 64, 224}));
  EXPECT_EQ(aipp_from_json(to_json(done[0])).model_dtype, "float32");
  EXPECT_EQ(model.input(0).type, ValueType::tensor(DType::kUInt8));
  EXPECT_EQ(*model.input(0).shape.dims, (Dims{2, 192, 256, 1}));
  EXPECT_EQ(*model.input(1).shape.dims, (Dims{752640}));
  ASSERT_EQ(model.function().arguments.size(), 3U);
  EXPECT_EQ(model.function().arguments[2].name, "ascend_dynamic_aipp_data");
  EXPECT_EQ(*model.input(2).shape.dims, (Dims{64 + 2 * 96}));
  const NodeId node = model.function().find("data_aipp");
  ASSERT_GE(node, 0);
  EXPECT_EQ(model.function()[node].attributes.get<int64_t>("load_start_pos_w"), 16);
  EXPECT_EQ(model.function()[model.function().results[0].value.node].inputs[0], (Edge{node, 0}));
}

std::string insertion_refused(Model model, const std::string& fields) {
  try {
    insert_aipp(model.function(),
                read_aipp("aipp_op { aipp_mode: static input_format: RGB888_U8 " + fields + " }", "a"), false);
  } catch (const Error& e) {
    return e.message();
  }
  return "";
}

TEST(AippConfiguration, RefusesWhatNoModelTakes) {
  EXPECT_EQ(insertion_refused({}, ""), "");
  EXPECT_NE(insertion_refused({}, "related_input_rank: 2").find("2 inputs"), std::string::npos);
  EXPECT_NE(insertion_refused({}, "related_input_name: \"x\"").find("no input of this name"), std::string::npos);
  EXPECT_NE(insertion_refused({}, "src_image_size_w: 100").find("100 x 64"), std::string::npos);
  EXPECT_NE(insertion_refused({}, "input_edge_idx: 4").find("used 1 times"), std::string::npos);
  EXPECT_NE(insertion_refused(Model({2, 5, 64, 224}), "").find("5 channels"), std::string::npos);
  EXPECT_NE(insertion_refused(Model({2, 3, 64, 224}, DType::kInt32), "").find("four dimensions of float"),
            std::string::npos);
  EXPECT_NE(insertion_refused(Model({2, 3}), "").find("four dimensions"), std::string::npos);
  EXPECT_NE(insertion_refused(Model({2, 3, kUnknownDim, 224}), "crop: true").find("known later"), std::string::npos);
  EXPECT_NE(insertion_refused({}, "crop: true load_start_pos_w: 8 src_image_size_w: 226 src_image_size_h: 64")
                .find("not within"),
            std::string::npos);
  Model twice;
  auto two = read_aipp("aipp_op { aipp_mode: static input_format: RGB888_U8 }", "a");
  two.push_back(two[0]);
  EXPECT_THROW(insert_aipp(twice.function(), two, false), Error);
}

}  // namespace
}  // namespace npu::graph::model
