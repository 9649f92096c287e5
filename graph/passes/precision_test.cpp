// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "base/error.h"
#include "device/process/soc_fixture.h"
#include "graph/import/tensorflow/dialect.h"
#include "graph/ir/print.h"
#include "graph/ir/verify.h"
#include "graph/passes/pipeline.h"

namespace npu::graph {
namespace {

const ValueType kFloat = ValueType::tensor(DType::kFloat), kHalf = ValueType::tensor(DType::kHalf);

NodeId add(Function& f, const std::string& name, const std::string& op, std::vector<Edge> inputs,
           ValueType type = kFloat) {
  Node node{
      .name = name, .kind = f.dialect->kind_of(op), .op = op, .inputs = std::move(inputs), .outputs = {{type, {}}}};
  if (op == "Cast") {
    node.attributes.set("SrcT", f.output(node.inputs[0]).type);
    node.attributes.set("DstT", type);
  } else if (type.is_tensor() && op != "ReadVariableOp") {
    node.attributes.set("T", type);
  }
  return f.add(std::move(node));
}

/// relu(x . w + b), then its mean: a cube operator, gray, clear and black ones; w and b are variables.
Function layer(ValueType type = kFloat) {
  Function f("layer", tensorflow::dialect());
  const NodeId x = f.add_argument("x", {type, {}});
  const NodeId w = f.add_argument("w", {ValueType::resource(), {}}),
               b = f.add_argument("b", {ValueType::resource(), {}});
  const NodeId weights = add(f, "weights", "ReadVariableOp", {{w}}, type);
  const NodeId bias = add(f, "bias", "ReadVariableOp", {{b}}, type);
  const NodeId product = add(f, "product", "MatMul", {{x}, {weights}}, type);
  const NodeId sum = add(f, "sum", "BiasAdd", {{product}, {bias}}, type);
  const NodeId relu = add(f, "relu", "Relu", {{sum}}, type);
  f.results.push_back({"mean", {add(f, "mean", "Mean", {{relu}}, type), 0}});
  return f;
}

Precision asked(std::initializer_list<std::pair<std::string_view, std::string_view>> options) {
  Precision precision;
  for (const auto& [option, value] : options) precision.set(option, value);
  return precision;
}

/// The report as "node dtype (why)" lines, of the nodes with a choice.
std::string run(Function& f, const Precision& precision) {
  PassReport report;
  set_precision(f, {.precision = precision}, report);
  verify(f, {});
  std::string out;
  for (const NodePrecision& node : report.precision)
    if (node.op != "ReadVariableOp") out += fmt::format("{} {} ({})\n", node.node, name_of(node.compute), node.why);
  return out;
}

std::string text_after(const Precision& precision, Function f = layer()) {
  run(f, precision);
  return to_text(f);
}

constexpr std::string_view kUntouched =
    "function layer(x: float32?, w: resource, b: resource) -> (mean: float32?)\n"
    "  %3 = ReadVariableOp(%1) : float32?  \"weights\"\n"
    "  %4 = ReadVariableOp(%2) : float32?  \"bias\"\n"
    "  %5 = MatMul(%0, %3) T=float32 : float32?  \"product\"\n"
    "  %6 = BiasAdd(%5, %4) T=float32 : float32?  \"sum\"\n"
    "  %7 = Relu(%6) T=float32 : float32?  \"relu\"\n"
    "  %8 = Mean(%7) T=float32 : float32?  \"mean\"\n"
    "  return %8\n";

TEST(Precision, WhatTheEnvironmentKeepsIsAsTheGraphSaysWhateverElseIsSet) {
  Precision precision = asked({{"precision_mode", "force_fp16"},
                               {"customize_dtypes", "product::InputDtype:float16,float16,OutputDtype:float16"}});
  precision.keep("product\nelsewhere\nsum\n");
  Function f = layer();
  EXPECT_EQ(run(f, precision),
            "product float32 (ANYNPU_KEEP_DTYPE)\n"
            "sum float32 (ANYNPU_KEEP_DTYPE)\n"
            "relu float16 (force_fp16)\n"
            "mean float16 (force_fp16)\n");
}

TEST(Precision, NothingAskedNothingToldNothingChanged) {
  Function f = layer();
  EXPECT_EQ(run(f, {}), "");
  EXPECT_EQ(to_text(f), kUntouched);
}

TEST(Precision, OriginIsTheGraph) {
  for (const auto& [option, value] :
       {std::pair{"precision_mode", "must_keep_origin_dtype"}, {"precision_mode_v2", "origin"}}) {
    Function f = layer();
    // No rule acts in these modes.
    EXPECT_EQ(run(f, asked({{option, value}, {"customize_dtypes", "product::InputDtype:float16"}})),
              fmt::format("product float32 ({0})\nsum float32 ({0})\nrelu float32 ({0})\nmean float32 ({0})\n", value));
    EXPECT_EQ(to_text(f), kUntouched);
  }
}

TEST(Precision, MixedModesGoByTheLists) {
  for (const auto& [option, value] : {std::pair{"precision_mode", "allow_mix_precision"},
                                      {"precision_mode", "allow_mix_precision_fp16"},
                                      {"precision_mode_v2", "mixed_float16"}}) {
    Function f = layer();
    EXPECT_EQ(run(f, asked({{option, value}})),
              "product float16 (white list)\n"
              "sum float16 (gray list: product is float16)\n"
              "relu float16 (clear list: sum is float16)\n"
              "mean float32 (black list)\n");
    EXPECT_EQ(to_text(f),
              "function layer(x: float32?, w: resource, b: resource) -> (mean: float32?)\n"
              "  %3 = ReadVariableOp(%1) : float32?  \"weights\"\n"
              "  %4 = ReadVariableOp(%2) : float32?  \"bias\"\n"
              "  %5 = Cast(%0) DstT=float16 SrcT=float32 Truncate=false : float16?  \"x/float16\"\n"
              "  %6 = Cast(%3) DstT=float16 SrcT=float32 Truncate=false : float16?  \"weights/float16\"\n"
              "  %7 = MatMul(%5, %6) T=float16 : float16?  \"product\"\n"
              "  %8 = Cast(%4) DstT=float16 SrcT=float32 Truncate=false : float16?  \"bias/float16\"\n"
              "  %9 = BiasAdd(%7, %8) T=float16 : float16?  \"sum\"\n"
              "  %10 = Relu(%9) T=float16 : float16?  \"relu\"\n"
              "  %11 = Cast(%10) DstT=float32 SrcT=float16 Truncate=false : float32?  \"relu/float32\"\n"
              "  %12 = Mean(%11) T=float32 : float32?  \"mean\"\n"
              "  return %12\n");
  }
  for (const auto& [option, value] :
       {std::pair{"precision_mode", "allow_mix_precision_bf16"}, {"precision_mode_v2", "mixed_bfloat16"}}) {
    Function f = layer();
    EXPECT_TRUE(run(f, asked({{option, value}})).starts_with("product bfloat16 (white list)\nsum bfloat16 (gray"));
  }
}

TEST(Precision, ForcedWhereverThereIsAReducedForm) {
  for (const auto& [option, value] : {std::pair{"precision_mode", "force_fp16"}, {"precision_mode_v2", "fp16"}}) {
    Function f = layer();
    EXPECT_EQ(run(f, asked({{option, value}})),
              fmt::format("product float16 ({0})\nsum float16 ({0})\nrelu float16 ({0})\nmean float16 ({0})\n", value));
    EXPECT_EQ(f.output(f.results[0].value).type, kFloat);  // callers see the types they declared
  }
}

TEST(Precision, OnlyCubeOperatorsAreReduced) {
  Function f = layer();
  EXPECT_EQ(run(f, asked({{"precision_mode", "allow_fp32_to_fp16"}})),
            "product float16 (allow_fp32_to_fp16: cube operator)\n"
            "sum float32 (allow_fp32_to_fp16: vector operator)\n"
            "relu float32 (allow_fp32_to_fp16: vector operator)\n"
            "mean float32 (allow_fp32_to_fp16: vector operator)\n");
  Function g = layer();
  EXPECT_TRUE(run(g, asked({{"precision_mode", "allow_fp32_to_bf16"}})).starts_with("product bfloat16"));
}

TEST(Precision, CubeOperatorsTakeFloat16AndGiveFloat32) {
  for (const auto& [option, value] : {std::pair{"precision_mode", "force_fp32"},
                                      {"precision_mode", "cube_fp16in_fp32out"},
                                      {"precision_mode_v2", "cube_fp16in_fp32out"}}) {
    Function f = layer();
    EXPECT_EQ(run(f, asked({{option, value}})),
              fmt::format("product float32 ({0}: cube operator, float16 in and float32 out)\n"
                          "sum float32 ({0}: vector operator)\n"
                          "relu float32 ({0}: vector operator)\n"
                          "mean float32 ({0}: vector operator)\n",
                          value));
    EXPECT_EQ(to_text(f),
              "function layer(x: float32?, w: resource, b: resource) -> (mean: float32?)\n"
              "  %3 = ReadVariableOp(%1) : float32?  \"weights\"\n"
              "  %4 = ReadVariableOp(%2) : float32?  \"bias\"\n"
              "  %5 = Cast(%0) DstT=float16 SrcT=float32 Truncate=false : float16?  \"x/float16\"\n"
              "  %6 = Cast(%5) DstT=float32 SrcT=float16 Truncate=false : float32?  \"x/float16/float32\"\n"
              "  %7 = Cast(%3) DstT=float16 SrcT=float32 Truncate=false : float16?  \"weights/float16\"\n"
              "  %8 = Cast(%7) DstT=float32 SrcT=float16 Truncate=false : float32?  \"weights/float16/float32\"\n"
              "  %9 = MatMul(%6, %8) T=float32 : float32?  \"product\"\n"
              "  %10 = BiasAdd(%9, %4) T=float32 : float32?  \"sum\"\n"
              "  %11 = Relu(%10) T=float32 : float32?  \"relu\"\n"
              "  %12 = Mean(%11) T=float32 : float32?  \"mean\"\n"
              "  return %12\n");
  }
}

TEST(Precision, HalvesOfTheProgramStayUnlessAllIsRaised) {
  for (const std::string_view mode : {"allow_mix_precision", "force_fp16", "allow_fp32_to_fp16"}) {
    Function f = layer(kHalf);
    const std::string before = to_text(f);
    EXPECT_TRUE(run(f, asked({{"precision_mode", mode}})).starts_with("product float16 (the graph says so)")) << mode;
    EXPECT_EQ(to_text(f), before) << mode;
  }
  Function f = layer(kHalf);
  run(f, asked({{"precision_mode", "force_fp32"}}));
  for (const char* name : {"product", "sum", "relu", "mean"})
    EXPECT_EQ(f[f.find(name)].outputs[0].type, kFloat) << name;
  EXPECT_EQ(f.output(f.results[0].value).type, kHalf);
  EXPECT_EQ(f[f.find("weights")].outputs[0].type, kHalf) << "it has the type of a variable";
}

TEST(Precision, ListsMoveExactlyTheNamed) {
  const auto with = [](std::string_view lists) {
    Function f = layer();
    return run(f, asked({{"precision_mode", "allow_mix_precision"}, {"modify_mixlist", lists}}));
  };
  EXPECT_EQ(with(R"({"black-list": {"to-add": ["MatMulV2"]}})"),
            "product float32 (black list by modify_mixlist)\n"
            "sum float32 (gray list: product is float32)\n"
            "relu float32 (clear list: sum is float32)\n"
            "mean float32 (black list)\n");
  // Only taken off: gray, and nothing before it is reduced.
  EXPECT_TRUE(with(R"({"white-list": {"to-remove": ["MatMul"]}})")
                  .starts_with("product float32 (gray list by modify_mixlist: nothing before it is float16)\n"));
  // Both is black, whichever stands first.
  EXPECT_TRUE(with(R"({"black-list": {"to-add": ["MatMul"]}, "white-list": {"to-remove": ["MatMul"]}})")
                  .starts_with("product float32 (black list by modify_mixlist)\n"));
  EXPECT_TRUE(with(R"({"white-list": {"to-add": ["ReduceMeanD"]}})")
                  .ends_with("mean float16 (white list by modify_mixlist)\n"));
  EXPECT_TRUE(with(R"({"gray-list": {"to-add": ["ReduceMean"]}})")
                  .ends_with("mean float16 (gray list by modify_mixlist: relu is float16)\n"));
}

TEST(Precision, RulesOfNodesGoBeforeAllElse) {
  Function f = layer();
  f[f.find("sum")].attributes.set("_keep_dtype", true);
  f[f.find("relu")].attributes.set("_keep_dtype", true);
  EXPECT_EQ(run(f, asked({{"precision_mode", "force_fp16"},
                          {"op_precision_mode", "[ByOpType]\nReduceMean=enable_float_32_execution\n"},
                          {"customize_dtypes",
                           "# a comment\n"
                           "product::InputDtype:float16,float16,OutputDtype:float32\n"
                           "OpType::Relu:InputDtype:float16,int8\n"
                           "OpType::MatMulV2:InputDtype:float32\n"}})),
            "product float32 (customize_dtypes line 2, by name)\n"
            "sum float32 (keep_dtype_scope)\n"
            "relu float16 (customize_dtypes line 3, by operator)\n"
            "mean float32 (op_precision_mode line 2: enable_float_32_execution)\n");
  EXPECT_EQ(f[f[f.find("product")].inputs[0].node].name, "x/float16/float32");  // rounded
}

TEST(Precision, OutputsAreRoundedForWhoeverReadsThem) {
  const std::string text = text_after(
      asked({{"precision_mode", "force_fp32"}, {"customize_dtypes", "sum::InputDtype:float32,OutputDtype:float16"}}));
  EXPECT_NE(text.find("= BiasAdd(%9, %4) T=float32 : float32?  \"sum\"\n"
                      "  %11 = Cast(%10) DstT=float16 SrcT=float32 Truncate=false : float16?  \"sum/float16\"\n"
                      "  %12 = Cast(%11) DstT=float32 SrcT=float16 Truncate=false : float32?  \"sum/float16/float32\"\n"
                      "  %13 = Relu(%12) T=float32"),
            std::string::npos)
      << text;
}

std::string refused(std::string_view option, std::string_view value, std::string_view mode = "force_fp16") {
  try {
    Function f = layer();
    run(f, asked({{"precision_mode", mode}, {option, value}}));
  } catch (const Error& e) {
    return e.message();
  }
  return "accepted";
}

TEST(Precision, WhatANodeCannotDoIsToldWithTheNode) {
  EXPECT_EQ(refused("customize_dtypes", "relu::InputDtype:int8"),
            "relu (Relu): customize_dtypes line 1 asks for int8 as its input 0; Relu on Ascend910B1 can have float32, "
            "float16, bfloat16");
  EXPECT_EQ(refused("customize_dtypes", "\nweights::OutputDtype:float16"),
            "weights (ReadVariableOp): customize_dtypes line 2 asks for float16 as its output 0; ReadVariableOp on "
            "Ascend910B1 can have float32");
}

TEST(Precision, TheSocSaysTheDefaultAndWhatCannotBe) {
  const auto default_on = [](std::string_view soc) {
    const device::OnSoc other(soc);
    return find_mode("").name;
  };
  EXPECT_EQ(default_on("Ascend910A"), "allow_fp32_to_fp16");
  EXPECT_EQ(default_on("Ascend910B1"), "must_keep_origin_dtype");
  const device::OnSoc soc("Ascend310P3");
  EXPECT_EQ(
      refused("precision_mode_v2", "mixed_bfloat16", ""),
      "precision_mode_v2 is mixed_bfloat16, and Ascend310P3 has no bfloat16; choose a mode of float16, or another "
      "SoC by ANYNPU_SOC");
  EXPECT_EQ(refused("customize_dtypes", "relu::InputDtype:int8"),
            "relu (Relu): customize_dtypes line 1 asks for int8 as its input 0; Relu on Ascend310P3 can have float32, "
            "float16");
}

TEST(Precision, MalformedFilesAreRefusedWithLineAndColumn) {
  EXPECT_EQ(refused("precision_mode", "fp16"),
            "precision_mode is 'fp16'; it is one of force_fp16, allow_fp32_to_fp16, allow_fp32_to_bf16, force_fp32, "
            "cube_fp16in_fp32out, must_keep_origin_dtype, allow_mix_precision, allow_mix_precision_fp16, "
            "allow_mix_precision_bf16");
  EXPECT_EQ(refused("modify_mixlist", "{\"black-list\": { // black\n  \"to-add\": [\"Relu\"] relu\n}}").substr(0, 60),
            "line 2, column 22: this is no JSON (which has a comma betwee");
  EXPECT_EQ(refused("modify_mixlist", "{\n \"blacklist\": {}}"),
            "line 2, column 2: there is no list \"blacklist\"; there are black-list, white-list and gray-list");
  EXPECT_EQ(refused("modify_mixlist", R"({"black-list": {"add": []}})"),
            "line 1, column 17: black-list has a member \"add\"; it takes to-add and to-remove");
  EXPECT_EQ(refused("modify_mixlist", R"({"black-list": {"to-add": "Relu"}})"),
            "line 1, column 17: to-add of black-list is no list of names of operators");
  EXPECT_EQ(refused("modify_mixlist", R"({"black-list": {"to-add": ["Relu"]}, "white-list": {"to-add": ["Relu"]}})"),
            "line 1, column 28: Relu is added to two lists");
  EXPECT_EQ(refused("customize_dtypes", "relu:InputDtype:float16"),
            "line 1, column 1: a line is <node>::InputDtype:… or OpType::<operator>:InputDtype:…");
  EXPECT_EQ(refused("customize_dtypes", "relu::float16"),
            "line 1, column 7: dtypes follow InputDtype: or OutputDtype:");
  EXPECT_EQ(refused("customize_dtypes", "\nrelu::InputDtype:float16, fp8"),
            "line 2, column 27: 'fp8' is no dtype; write float16, float32, bfloat16 …");
  EXPECT_EQ(refused("customize_dtypes", "relu::InputDtype:float16\nrelu::InputDtype:float32"),
            "line 2, column 1: relu has a rule already, in line 1");
  EXPECT_EQ(refused("op_precision_mode", "Relu=high_precision"),
            "line 1, column 1: a section comes first: [ByOpType] or [ByNodeName]");
  EXPECT_EQ(refused("op_precision_mode", "[ByType]"),
            "line 1, column 1: there is no section [ByType]; there are [ByOpType] and [ByNodeName]");
  EXPECT_EQ(refused("op_precision_mode", "[ByOpType]\nRelu=best").substr(0, 40),
            "line 2, column 6: 'best' is no mode; the");
  EXPECT_EQ(refused("keep_type", "").substr(0, 31), "there is no option keep_type; t");
}

TEST(Precision, WhatHasNoEffectIsSaid) {
  Precision p = asked({{"precision_mode", "force_fp16"}});
  EXPECT_EQ(
      p.set("modify_mixlist", R"({"black-list": {"to-add": ["Matmul", "ApplyMomentum"], "to-remove": ["Conv2D"]}})"),
      (std::vector<std::string>{"Conv2D is not on the black list, so it is not removed from it",
                                "there is no operator Matmul; there is MatMul",
                                "ApplyMomentum has no choice of dtype, so no list moves it",
                                "the lists count in mixed modes only, and the mode is force_fp16"}));
  EXPECT_EQ(p.set("modify_mixlist", "{ // none\n\"gray-list\": {\"to-add\": [\"Relu\",],},}").size(), 1u);
  const auto idle = p.set("op_precision_mode",
                          "[ByOpType]\nSoftmaxV2=high_precision\nRelu=keep_fp16\nLRN=high_performance\n"
                          "[ByNodeName]\nhead=high_precision\nrows=support_out_of_bound_index\n");
  ASSERT_EQ(idle.size(), 3u);
  EXPECT_TRUE(idle[0].starts_with("high_precision has no effect (on SoftmaxV2, head): each operator has one"))
      << idle[0];
  EXPECT_TRUE(idle[1].starts_with("high_performance has no effect (on LRN)")) << idle[1];
  EXPECT_TRUE(idle[2].starts_with("support_out_of_bound_index has no effect (on rows)")) << idle[2];
}

TEST(Precision, NoCastsThatCancel) {
  // float16 -> float32 of the program, before an operator that is reduced: it takes what was there first.
  Function f("f", tensorflow::dialect());
  const NodeId x = f.add_argument("x", {kHalf, {}});
  const NodeId wide = add(f, "wide", "Cast", {{x}});
  f.results.push_back({"y", {add(f, "y", "MatMul", {{wide}, {wide}}), 0}});
  run(f, asked({{"precision_mode", "allow_mix_precision"}}));
  EXPECT_EQ(f[f.find("y")].inputs, (std::vector<Edge>{{x}, {x}}));
  // A rounding of the program is none of them.
  Function g("g", tensorflow::dialect());
  const NodeId a = g.add_argument("a", {kFloat, {}});
  const NodeId narrow = add(g, "narrow", "Cast", {{a}}, kHalf);
  const NodeId again = add(g, "again", "Cast", {{narrow}});
  g.results.push_back({"y", {add(g, "y", "Exp", {{again}}), 0}});
  const std::string before = to_text(g);
  run(g, asked({{"precision_mode", "allow_mix_precision"}}));
  EXPECT_EQ(to_text(g), before);
}

TEST(Precision, OneCastAValueAndDType) {
  Function f("f", tensorflow::dialect());
  const NodeId x = f.add_argument("x", {kFloat, {}});
  const NodeId a = add(f, "a", "MatMul", {{x}, {x}}), b = add(f, "b", "MatMul", {{x}, {a}});
  for (const NodeId id : {a, b}) f.results.push_back({f[id].name, {id, 0}});
  run(f, asked({{"precision_mode", "allow_mix_precision"}}));
  EXPECT_EQ(std::count_if(f.nodes.begin(), f.nodes.end(), [](const Node& n) { return n.op == "Cast"; }), 3);
}

TEST(Precision, WhatUpdatesVariablesStays) {
  for (const std::string_view mode : {"allow_mix_precision", "force_fp16"}) {
    Function f("f", tensorflow::dialect());
    const NodeId x = f.add_argument("x", {kFloat, {}}), w = f.add_argument("w", {ValueType::resource(), {}});
    const NodeId gradient = add(f, "gradient", "MatMul", {{x}, {x}});
    const NodeId unscaled = add(f, "unscaled", "Mul", {{gradient}, {x}});
    const NodeId finite = add(f, "finite", "IsFinite", {{unscaled}}, ValueType::tensor(DType::kBool));
    const NodeId step = add(f, "step", "Mul", {{unscaled}, {x}});
    const NodeId other = add(f, "other", "Mul", {{gradient}, {gradient}});
    const NodeId update = add(f, "update", "AssignSubVariableOp", {{w}, {step}});
    f[update].outputs.clear();
    f.control_results = {update};
    for (const NodeId id : {finite, other}) f.results.push_back({f[id].name, {id, 0}});
    const std::string told = run(f, asked({{"precision_mode", mode}}));
    for (const char* line : {"unscaled float32 (its results only go into variables)\n", "gradient float16 (",
                             "step float32 (its results only go into variables)\n", "other float16 ("})
      EXPECT_NE(told.find(line), std::string::npos) << told;
  }
}

TEST(Precision, ConstantsThatDoNotFitStay) {
  for (const std::string_view mode : {"allow_mix_precision", "force_fp16"}) {
    Function f("f", tensorflow::dialect());
    const NodeId x = f.add_argument("x", {kFloat, {}});
    const float number = -1e9F;
    const auto* bytes = reinterpret_cast<const std::byte*>(&number);
    const NodeId large = f.add_constant(
        "large", {kFloat, {}, std::make_shared<const std::vector<std::byte>>(bytes, bytes + sizeof number), nullptr});
    const NodeId product = add(f, "product", "MatMul", {{x}, {x}});
    f.results.push_back({"y", {add(f, "masked", "Mul", {{product}, {large}}), 0}});
    EXPECT_NE(run(f, asked({{"precision_mode", mode}}))
                  .find("masked float32 (large has a number beyond the range of float16)"),
              std::string::npos);
  }
}

TEST(Precision, MovedNumbersFollowTheirReadersWhereNothingComesBefore) {
  const auto reshaped = [](const std::string& reader) {
    Function f("f", tensorflow::dialect());
    const NodeId x = f.add_argument("x", {kFloat, {}});
    const NodeId moved = add(f, "moved", "Transpose", {{x}});
    f.results.push_back({"y", {add(f, "y", reader, {{moved}, {moved}}), 0}});
    return run(f, asked({{"precision_mode", "allow_mix_precision"}}));
  };
  EXPECT_EQ(reshaped("MatMul"), "moved float16 (clear list: all that reads it is float16)\ny float16 (white list)\n");
  EXPECT_EQ(reshaped("Mul"),
            "moved float32 (clear list: nothing before it is float16)\n"
            "y float32 (gray list: nothing before it is float16)\n");
}

TEST(PrecisionEffect, IsTheRuleOfTheModeForTheLineOfTheTable) {
  const auto effect = [](std::string_view mode, std::string_view op) {
    return effect_of(find_mode(mode), *find_precision(op));
  };
  EXPECT_EQ(effect("", "MatMul"), "as the graph says");
  EXPECT_EQ(effect("fp16", "Exp"), "float16");
  EXPECT_EQ(effect("fp16", "SparseSoftmaxCrossEntropyWithLogits"), "float32");
  EXPECT_EQ(effect("fp16", "ReadVariableOp"), "as its variable");
  EXPECT_EQ(effect("allow_fp32_to_bf16", "Conv2D"), "bfloat16");
  EXPECT_EQ(effect("allow_fp32_to_bf16", "Relu"), "as the graph says");
  EXPECT_EQ(effect("force_fp32", "MatMul"), "float16 in, float32 out");
  EXPECT_EQ(effect("mixed_float16", "Exp"), "float32");
  EXPECT_EQ(effect("mixed_float16", "BiasAdd"), "as what comes before it");
  EXPECT_THROW(find_mode("fp8"), Error);
}

}  // namespace
}  // namespace npu::graph
