// SPDX-License-Identifier: Apache-2.0
// The model file: what is written comes back, weights stay where the file lies, and whatever is no model is refused.
#include "graph/model/model_file.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <new>
#include <random>

#include "graph/graph_fixture.h"
#include "graph/model/container.h"

namespace npu::graph::model {
namespace {

std::shared_ptr<Function> scaled() {
  TestFunction f("f");
  const Edge x = f.argument("x");
  f.result(f.node("Mul", {x, f.constant<float>({4}, {1, 2, 3, 4})}));
  return f.function();
}

Model small() {
  Model model;
  model.name = "small";
  model.function = "f";
  model.original.add(scaled());
  model.compiled.add(scaled());
  model.inputs = {{"x", DType::kFloat, 2, {kUnknownDim, 4}, {{1, 8}, {4, 4}}}};
  model.outputs = {{"r", DType::kFloat, 2, {kUnknownDim, 4}}};
  model.gear_kind = GearKind::kBatch;
  model.gears = {{{1}, {{1, 4}}, {{1, 4}}}, {{8}, {{8, 4}}, {{8, 4}}}};
  model.work_bytes = 77;
  model.precision = {{"precision_mode", "force_fp16"}};
  model.passes_off = {"elementwise"};
  model.facts = {{"soc", "Ascend310"}};
  return model;
}

/// Bytes at a multiple of 64, as a mapping has them.
std::shared_ptr<std::byte> placed(std::string_view bytes) {
  auto* at = static_cast<std::byte*>(::operator new[](bytes.size() + 1, std::align_val_t(64)));
  std::memcpy(at, bytes.data(), bytes.size());
  return {at, [](std::byte* p) { ::operator delete[](p, std::align_val_t(64)); }};
}

Model read(std::string_view bytes) {
  const auto at = placed(bytes);
  return read_model({at.get(), bytes.size()}, at);
}

std::string refusal_of(std::string_view bytes, Code code = kDamagedModel) {
  try {
    read(bytes);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), code) << e.message();
    return e.message();
  }
  return "";
}

TEST(ModelFile, GivesBackWhatWasWritten) {
  const Model model = read(to_bytes(small()));
  EXPECT_EQ(model.name, "small");
  EXPECT_EQ(model.original.functions.size(), 1u);
  EXPECT_EQ(model.compiled.functions.size(), 1u);
  ASSERT_EQ(model.inputs.size(), 1u);
  EXPECT_EQ(model.inputs[0].shape, (Dims{-1, 4}));
  EXPECT_EQ(model.inputs[0].range, (std::vector<std::pair<int64_t, int64_t>>{{1, 8}, {4, 4}}));
  EXPECT_EQ(model.gear_kind, GearKind::kBatch);
  ASSERT_EQ(model.gears.size(), 2u);
  EXPECT_EQ(model.gears[1].outputs[0], (Dims{8, 4}));
  EXPECT_EQ(model.work_bytes, 77);
  EXPECT_EQ(model.precision[0].second, "force_fp16");
  EXPECT_EQ(model.passes_off[0], "elementwise");
  EXPECT_EQ(model.facts.at("soc"), "Ascend310");
}

TEST(ModelFile, WeightsLieWhereTheFileLies) {
  const std::string bytes = to_bytes(small());
  const auto at = placed(bytes);
  const Model model = read_model({at.get(), bytes.size()}, at);
  for (const Node& node : model.compiled.get("f").nodes) {
    if (node.kind != Kind::kConstant) continue;
    const std::byte* weights = node.attributes.get<Literal>("value").bytes.get();
    EXPECT_GE(weights, at.get());
    EXPECT_LT(weights, at.get() + bytes.size());
    EXPECT_EQ(reinterpret_cast<uintptr_t>(weights) % 64, 0u);
  }
  EXPECT_GT(at.use_count(), 1) << "the constants keep the file";
  EXPECT_GT(model.weight_bytes, 0);
}

TEST(ModelFile, ACopyOfTheWeightsMayTakeTheirPlace) {
  const std::string bytes = to_bytes(small());
  const auto at = placed(bytes);
  const auto weights = weights_of({at.get(), bytes.size()});
  const auto copy = placed({reinterpret_cast<const char*>(weights.data()), weights.size()});
  const Model model = read_model({at.get(), bytes.size()}, copy, {copy.get(), weights.size()});
  for (const Node& node : model.original.get("f").nodes)
    if (node.kind == Kind::kConstant) {
      EXPECT_EQ(node.attributes.get<Literal>("value").bytes.get(), copy.get());
    }
}

TEST(ModelFile, DamagedWeightsAreFoundWhenTheyAreChecked) {
  std::string bytes = to_bytes(small());
  const auto check = [&] {
    const auto at = placed(bytes);
    check_weights({at.get(), bytes.size()});
  };
  EXPECT_NO_THROW(check());
  bytes.back() = static_cast<char>(bytes.back() ^ 1);  // the weights are the last section
  EXPECT_NO_THROW(read(bytes));
  EXPECT_THROW(check(), Error);
}

TEST(ModelFile, SaysWhatIsWrong) {
  EXPECT_NE(refusal_of("", kNoModelData).find("empty"), std::string::npos);
  EXPECT_NE(refusal_of(std::string("IMOD") + std::string(300, '\0')).find("vendor's atc"), std::string::npos);
  EXPECT_NE(refusal_of("ELF").find("convert the model again"), std::string::npos);
  std::string later = to_bytes(small());
  later[8] = 9;
  EXPECT_NE(refusal_of(later).find("version 9"), std::string::npos);
  Model two = small();
  two.inputs.push_back(two.inputs[0]);
  EXPECT_NE(refusal_of(to_bytes(two)).find("other inputs"), std::string::npos);
  Model wrong = small();
  wrong.gears[0].values = {1, 2};
  EXPECT_NE(refusal_of(to_bytes(wrong)).find("2 sizes"), std::string::npos);
}

TEST(ModelFile, IsRefusedWhereverItIsCut) {
  const std::string file = to_bytes(small());
  for (size_t length = 1; length < file.size(); length += 7)
    EXPECT_NE(refusal_of(file.substr(0, length)), "") << length;
}

TEST(ModelFile, BytesOfShapes) {
  EXPECT_EQ(bytes_of(DType::kHalf, {2, 3}), 12);
  EXPECT_EQ(bytes_of(DType::kHalf, {2, -1}), 0);
  EXPECT_EQ(bytes_of(DType::kHalf, {}), 2);
  EXPECT_THROW(bytes_of(DType::kFloat, {int64_t{1} << 40, int64_t{1} << 40}), Error);
}

}  // namespace
}  // namespace npu::graph::model
