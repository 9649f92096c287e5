// SPDX-License-Identifier: Apache-2.0
// Conversions of small models: shapes, gears, types, and each wrong request with its code.
#include "graph/convert/convert.h"

#include <gtest/gtest.h>

#include "graph/graph_fixture.h"
#include "graph/run/executable.h"
#include "graph/run/library.h"

namespace npu::graph::convert {
namespace {

using model::GearKind;
using model::Model;

/// out = x * 2 and the sum of x along the last axis; x is float32 of `shape`.
Imported doubled(const Dims& shape) {
  TestFunction f("main");
  const Edge x = f.argument("x"), two = f.constant<float>({}, {2}), axis = f.constant<int32_t>({1}, {-1});
  const Edge out = f.node("Mul", {x, two}), sum = f.node("Sum", {x, axis});
  f.with<bool>(sum, "keep_dims", false);
  Function& made = *f.function();
  made.arguments[0].value.shape = made.nodes[0].outputs[0].shape = {shape};
  made.results = {{"out", out}, {"sum", sum}};
  Imported imported;
  imported.program.add(f.function());
  imported.function = "main";
  imported.format = "test";
  imported.nodes = {{"mul", {"out"}}};
  imported.values = {{"out", out}};
  return imported;
}

Flags with(Flags flags) {
  flags.emplace("precision_mode", "must_keep_origin_dtype");
  return flags;
}

std::string refusal_of(const Dims& shape, const Flags& flags) {
  try {
    convert(doubled(shape), read_request(flags));
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kInvalidParam) << e.message();
    return e.message();
  }
  return "accepted";
}

void expect_refused(const std::string& code, const Dims& shape, const Flags& flags, const std::string& word = "") {
  const std::string text = refusal_of(shape, flags);
  EXPECT_TRUE(text.starts_with(code + ": ")) << text;
  EXPECT_NE(text.find(word), std::string::npos) << text;
}

std::vector<Value> run(const Model& model, std::vector<Value> values) {
  Library library(0);
  library.add_rewritten(model.compiled);
  return library.get(model.function, Role::kRoot)->run(std::move(values));
}

TEST(Convert, AStaticModelKnowsItsOutputs) {
  const Model model = convert(doubled({2, 3}), read_request(with({})));
  ASSERT_EQ(model.outputs.size(), 2u);
  EXPECT_EQ(model.outputs[0].shape, (Dims{2, 3}));
  EXPECT_EQ(model.outputs[1].shape, (Dims{2}));
  EXPECT_EQ(model.inputs[0].name, "x");
  EXPECT_EQ(model.facts.at("framework"), "test");
  const auto results = run(model, {value_of<float>({2, 3}, {1, 2, 3, 4, 5, 6})});
  EXPECT_EQ(numbers_of<float>(results[0]), (std::vector<float>{2, 4, 6, 8, 10, 12}));
  EXPECT_EQ(numbers_of<float>(results[1]), (std::vector<float>{6, 15}));
}

TEST(Convert, TheFileRunsAsTheModel) {
  const Model before = convert(doubled({-1, 3}), read_request(with({{"input_shape", "x:2,3"}})));
  const auto bytes = std::make_shared<const std::string>(model::to_bytes(before));
  // A string lies anywhere: elements are copied where nobody keeps their place.
  const Model after = model::read_model(std::as_bytes(std::span(*bytes)), nullptr);
  const auto results = run(after, {value_of<float>({2, 3}, {1, 2, 3, 4, 5, 6})});
  EXPECT_EQ(numbers_of<float>(results[1]), (std::vector<float>{6, 15}));
}

TEST(Convert, GearsHaveShapesOfTheirOwn) {
  const Model model =
      convert(doubled({-1, 3}), read_request(with({{"input_shape", "x:-1,3"}, {"dynamic_batch_size", "1,4,8"}})));
  EXPECT_EQ(model.gear_kind, GearKind::kBatch);
  ASSERT_EQ(model.gears.size(), 3u);
  EXPECT_EQ(model.gears[2].inputs[0], (Dims{8, 3}));
  EXPECT_EQ(model.gears[2].outputs[1], (Dims{8}));
  EXPECT_EQ(model.inputs[0].shape, (Dims{-1, 3}));
  const Model dims = convert(doubled({-1, -1}), read_request(with({{"dynamic_dims", "1,2;3,4"}})));
  EXPECT_EQ(dims.gears[1].outputs[0], (Dims{3, 4}));
  const Model image = convert(doubled({1, 3, -1, -1}),
                              read_request(with({{"input_format", "NCHW"}, {"dynamic_image_size", "4,5;6,7"}})));
  EXPECT_EQ(image.gears[1].inputs[0], (Dims{1, 3, 6, 7}));
}

TEST(Convert, ImageSizesAreInTheOrderOfTheFramework) {
  const Request request = read_request(with({{"dynamic_image_size", "4,5;6,7"}}));
  Imported first = doubled({1, 3, -1, -1}), last = doubled({1, -1, -1, 3});
  first.format = "ONNX 13", last.format = "TensorFlow";
  const Model onnx = convert(std::move(first), request), tensorflow = convert(std::move(last), request);
  EXPECT_EQ(onnx.gears[1].inputs[0], (Dims{1, 3, 6, 7}));
  EXPECT_EQ(onnx.inputs[0].format, 0);
  EXPECT_EQ(tensorflow.gears[1].inputs[0], (Dims{1, 6, 7, 3}));
  EXPECT_EQ(tensorflow.inputs[0].format, 1);
  Imported plain = doubled({1, 4, 5, 3});
  plain.format = "TensorFlow";
  EXPECT_EQ(convert(std::move(plain), read_request(with({}))).inputs[0].format, 2) << "ND where nothing asks";
  // A flag counts more than the framework.
  Imported given = doubled({1, 3, -1, -1});
  given.format = "TensorFlow";
  const Request nchw = read_request(with({{"dynamic_image_size", "4,5;6,7"}, {"input_format", "NCHW"}}));
  EXPECT_EQ(convert(std::move(given), nchw).gears[0].inputs[0], (Dims{1, 3, 4, 5}));
}

TEST(Convert, RangesAreKept) {
  const Model model = convert(doubled({-1, 3}), read_request(with({{"input_shape", "x:1~4,3"}})));
  EXPECT_EQ(model.inputs[0].shape, (Dims{-1, 3}));
  EXPECT_EQ(model.inputs[0].range[0], (std::pair<int64_t, int64_t>{1, 4}));
  const Model other = convert(doubled({-1, 3}), read_request(with({{"input_shape_range", "x:[2~-1,3]"}})));
  EXPECT_EQ(other.inputs[0].range[0], (std::pair<int64_t, int64_t>{2, -1}));
}

TEST(Convert, TypesOfInputsAndOutputs) {
  const Model half =
      convert(doubled({2, 2}), read_request(with({{"input_fp16_nodes", "x"}, {"output_type", "mul:0:FP16"}})));
  EXPECT_EQ(half.inputs[0].dtype, DType::kHalf);
  EXPECT_EQ(half.outputs[0].dtype, DType::kHalf);
  EXPECT_EQ(half.outputs[1].dtype, DType::kFloat);
  const auto results = run(half, {value_of<Half>({2, 2}, {Half(1), Half(2), Half(3), Half(4)})});
  EXPECT_EQ(static_cast<float>(numbers_of<Half>(results[0])[3]), 8.F);
  const Model all = convert(doubled({2, 2}), read_request(with({{"output_type", "FP16"}})));
  EXPECT_EQ(all.outputs[1].dtype, DType::kHalf);
}

TEST(Convert, HalfPrecisionIsTheDefault) {
  const Model model = convert(doubled({2, 2}), read_request({}));
  EXPECT_EQ(model.precision.at(0).second, "force_fp16");
  EXPECT_EQ(model.inputs[0].dtype, DType::kFloat) << "inputs and outputs stay as they are";
  EXPECT_EQ(model.outputs[0].dtype, DType::kFloat);
  const auto results = run(model, {value_of<float>({2, 2}, {1.0F / 3, 2, 3, 4})});
  EXPECT_EQ(numbers_of<float>(results[0])[0], static_cast<float>(Half(2 * static_cast<float>(Half(1.0F / 3)))));
}

TEST(Convert, WrongShapes) {
  expect_refused("E10002", {2, 2}, {{"input_shape", "2,2"}}, "names no input");
  expect_refused("E10002", {2, 2}, {{"input_shape", "x:2,b"}}, "b");
  expect_refused("E10002", {2, 2}, {{"input_shape", "x:2,2;x:2,2"}}, "twice");
  expect_refused("E10011", {2, 2}, {{"input_shape", "x:0,2"}}, "0");
  expect_refused("E10016", {2, 2}, {{"input_shape", "y:2,2"}}, "its inputs are x");
  expect_refused("E10049", {2, 2}, {{"input_shape", "x:2,2,2"}}, "x");
  expect_refused("E10048", {-1, 2}, {{"input_shape", "x:4~1,2"}}, "4~1");
  expect_refused("E10047", {-1, 2}, {{"input_shape", "x:1,2"}, {"input_shape_range", "x:1~2,2"}}, "x");
}

TEST(Convert, WrongGears) {
  const auto batch = [](const char* sizes) { return Flags{{"input_shape", "x:-1,2"}, {"dynamic_batch_size", sizes}}; };
  expect_refused("E10035", {-1, 2}, batch("4"));
  expect_refused("E10036", {-1, 2}, batch([] {
                   static std::string all = "1";
                   for (int i = 2; i < 120; ++i) all += "," + std::to_string(i);
                   return all.c_str();
                 }()));
  expect_refused("E10038", {-1, 2}, batch("1,0"));
  expect_refused("E10039", {-1, 2}, batch("2,2"));
  expect_refused("E10014", {-1, 2}, batch("1,x"));
  expect_refused("E10040", {2, 2}, {{"dynamic_batch_size", "1,2"}});
  expect_refused("E10018", {-1, -1}, {{"dynamic_batch_size", "1,2"}});
  expect_refused("E10019", {-1, 3, -1, -1}, {{"dynamic_image_size", "1,2;3,4"}, {"input_format", "NCHW"}});
  expect_refused("E10020", {1, 3, -1, -1}, {{"dynamic_image_size", "1,2,3;4,5,6"}, {"input_format", "NCHW"}});
  expect_refused("E10037", {-1, -1}, {{"dynamic_dims", "1,2;3"}});
  expect_refused("E10045", {-1, -1}, {{"dynamic_dims", "1;3"}});
  expect_refused("E10009", {-1, -1}, {{"dynamic_dims", "1,2;3,4"}, {"dynamic_batch_size", "1,2"}});
  expect_refused("E10001", {-1, -1}, {{"dynamic_dims", "1,2;3,4"}, {"input_format", "NCHW"}});
  expect_refused("E10001", {1, 3, -1, -1}, {{"dynamic_image_size", "1,2;3,4"}, {"input_format", "ND"}}, "NCHW or NHWC");
  expect_refused("E10001", {1, 3, -1, -1}, {{"dynamic_image_size", "1,2;3,4"}}, "NCHW or NHWC");
}

TEST(Convert, WrongTypesAndFiles) {
  expect_refused("E10001", {2, 2}, {{"output_type", "FP8"}}, "FP8");
  expect_refused("E10001", {2, 2}, {{"output_type", "mul:FP16"}}, "NODE:INDEX:TYPE");
  expect_refused("E10016", {2, 2}, {{"output_type", "add:0:FP16"}}, "out, sum");
  expect_refused("E10016", {2, 2}, {{"input_fp16_nodes", "z"}}, "z");
  expect_refused("E10001", {2, 2}, {{"input_format", "HWNC"}}, "HWNC");
  expect_refused("E10001", {2, 2}, {{"precision_mode", "half"}}, "half");
  expect_refused("E10047", {2, 2}, {{"precision_mode", "force_fp16"}, {"precision_mode_v2", "fp16"}});
  expect_refused("E10410", {2, 2}, {{"insert_op_conf", "/nowhere"}}, "/nowhere");
  expect_refused("E10410", {2, 2}, {{"fusion_switch_file", "/nowhere"}}, "/nowhere");
  expect_refused("E10410", {2, 2}, {{"modify_mixlist", "/nowhere"}}, "/nowhere");
}

}  // namespace
}  // namespace npu::graph::convert
