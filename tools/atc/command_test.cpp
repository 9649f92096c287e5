// SPDX-License-Identifier: Apache-2.0
#include "tools/atc/command.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "base/json.h"
#include "tools/atc/flag.h"
#include "tools/atc/refusal.h"

namespace npu::atc {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kText = R"(name: "model"
version: 1
graph {
  name: "step_1"
  op {
    name: "net/\"dense\"" type: "MatMulV2" id: 3 input: "x:0" input: "guard:-1"
    attr { key: "_datadump_original_op_names" value { list { s: "net/dense" s: "net/relu" } } }
    attr { key: "alpha" value { f: 0.25 } }
    attr { key: "bound" value { f: inf } }
    attr { key: "fused" value { b: true } }
    output_desc { dtype: DT_FLOAT16 shape { dim: 2 dim: -1 } layout: "ND" }
  }
}
)";

std::string varint(uint64_t value) {
  std::string out;
  for (; value >= 128; value >>= 7) out += static_cast<char>(value | 128);
  return out + static_cast<char>(value);
}

/// A field of a message that holds bytes, and one that holds a number.
std::string field(int number, const std::string& bytes) {
  return varint(static_cast<uint64_t>(number) << 3 | 2) + varint(bytes.size()) + bytes;
}
std::string field(int number, uint64_t value) { return varint(static_cast<uint64_t>(number) << 3) + varint(value); }

/// An ONNX value of float32.
std::string value_info(const std::string& name, const std::vector<int64_t>& dims) {
  std::string shape;
  for (const int64_t size : dims)
    shape += field(1, size < 0 ? field(2, std::string("n")) : field(1, static_cast<uint64_t>(size)));
  return field(1, name) + field(2, field(1, field(1, 1) + field(2, shape)));
}

/// y = op(x), an ONNX model of opset 13.
std::string onnx_model(const std::string& op, const std::vector<int64_t>& dims) {
  const std::string node =
      field(1, std::string("x")) + field(2, std::string("y")) + field(3, std::string("node_0")) + field(4, op);
  const std::string graph =
      field(1, node) + field(2, std::string("g")) + field(11, value_info("x", dims)) + field(12, value_info("y", dims));
  return field(1, 7) + field(2, std::string("test")) + field(7, graph) + field(8, field(2, 13));
}

class Atc : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }
  std::string file(const std::string& name, std::string_view content) {
    const std::string path = folder_ / name;
    std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
    return path;
  }
  std::string text(std::string_view content) { return file("ge_proto_00001_Build.txt", content); }
  std::string model(const std::string& op = "Relu", const std::vector<int64_t>& dims = {2, 3}) {
    return file("model.onnx", onnx_model(op, dims));
  }
  static std::string content(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  /// What it told on stdout.
  static std::string done(const std::vector<std::string>& arguments) {
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const int code = run(arguments);
    const std::string told = testing::internal::GetCapturedStdout(), why = testing::internal::GetCapturedStderr();
    EXPECT_EQ(code, 0) << why;
    EXPECT_NE(told.find("ATC run success\n"), std::string::npos);
    return told;
  }
  static int refused(const std::vector<std::string>& arguments, const char* reason) {
    testing::internal::CaptureStderr();
    testing::internal::CaptureStdout();
    const int code = run(arguments);
    const std::string why = testing::internal::GetCapturedStderr(), told = testing::internal::GetCapturedStdout();
    EXPECT_NE(why.find(reason), std::string::npos) << why;
    EXPECT_NE(told.find("ATC run failed"), std::string::npos) << told;
    return code;
  }
  std::vector<std::string> conversion(std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"--framework=5", "--model=" + model(), "--output=" + (folder_ / "out").string(),
                               "--soc_version=Ascend310"});
    return more;
  }
  const fs::path folder_ = fs::temp_directory_path() / ("anynpu_atc_" + std::to_string(getpid()));
};

TEST_F(Atc, MakesJsonOfTheTextOfAGraph) {
  const std::string out = folder_ / "new" / "on.json";
  done({"--mode=5", "--om=" + text(kText), "--json", out});
  const auto json = Json::parse(content(out));
  EXPECT_EQ(json.at("name"), "model");
  const auto& op = json.at("graph").at(0).at("op").at(0);
  EXPECT_EQ(op.at("name"), "net/\"dense\"");
  EXPECT_EQ(op.at("id"), 3);
  EXPECT_EQ(op.at("input"), (std::vector<std::string>{"x:0", "guard:-1"}));
  EXPECT_EQ(op.at("attr").at(0).at("value").at("list").at("s").at(1), "net/relu");
  EXPECT_EQ(op.at("attr").at(1).at("value").at("f"), 0.25);
  EXPECT_EQ(op.at("attr").at(2).at("value").at("f"), "inf");
  EXPECT_EQ(op.at("attr").at(3).at("value").at("b"), true);
  EXPECT_EQ(op.at("output_desc").at(0).at("shape").at("dim"), (std::vector<int>{2, -1}));
  EXPECT_EQ(op.at("output_desc").at(0).at("dtype"), "DT_FLOAT16");
}

TEST_F(Atc, MakesAModelThatTellsOfItself) {
  done(conversion({"--input_shape=x:2,3", "--precision_mode=must_keep_origin_dtype"}));
  const std::string om = folder_ / "out.om";
  EXPECT_TRUE(content(om).starts_with("\x89NPUG"));
  const std::string facts = done({"--mode=6", "--om=" + om});
  for (const char* word : {"model out", "Ascend310", "ONNX 13", "input    x float32 [2,3]", "output   y float32 [2,3]",
                           "--input_shape=x:2,3", "must_keep_origin_dtype", "weights"})
    EXPECT_NE(facts.find(word), std::string::npos) << word << "\n" << facts;
  const std::string json = folder_ / "om.json";
  done({"--mode=1", "--om=" + om, "--json=" + json});
  const auto graph = Json::parse(content(json)).at("graph").at(0);
  std::string types;
  for (const auto& op : graph.at("op")) types += op.at("type").get<std::string>() + " ";
  EXPECT_NE(types.find("Relu"), std::string::npos) << types;
  done({"--mode=1", "--om=" + model(), "--framework=5", "--json=" + json, "--dump_mode=0"});
  EXPECT_TRUE(Json::parse(content(json)).contains("graph"));
}

TEST_F(Atc, ConvertsForGears) {
  const std::string from = model("Relu", {-1, 3});
  const std::string out = folder_ / "gears";
  const std::string told = done({"--framework=5", "--model=" + from, "--output=" + out, "--soc_version=Ascend310P3",
                                 "--input_shape=x:-1,3", "--dynamic_batch_size=1,4", "--display_model_info=1"});
  EXPECT_NE(told.find("gear     [4] of batch: outputs [[4,3]]"), std::string::npos) << told;
}

TEST_F(Atc, ChecksModels) {
  const std::string report = folder_ / "report.json";
  done({"--mode=3", "--framework=5", "--model=" + model(), "--check_report=" + report});
  auto read = Json::parse(content(report));
  EXPECT_EQ(read.at("result"), "success");
  EXPECT_EQ(read.at("op").at(0).at("op_name"), "node_0");
  testing::internal::CaptureStdout();
  EXPECT_EQ(run({"--mode=3", "--framework=5", "--model=" + model("Frobnicate"), "--check_report=" + report}), 255);
  testing::internal::GetCapturedStdout();
  read = Json::parse(content(report));
  EXPECT_EQ(read.at("result"), "failed");
  EXPECT_NE(read.at("reason").get<std::string>().find("Frobnicate"), std::string::npos);
}

TEST_F(Atc, RefusesModelsWithCodes) {
  EXPECT_EQ(refused(conversion({"--input_shape=z:1"}), "E10016: --input_shape: the model has no input z"), 255);
  EXPECT_EQ(refused(conversion({"--input_shape=x:1;x:2"}), "E10002"), 255);
  const std::string out = "--output=" + (folder_ / "none").string();
  EXPECT_EQ(refused({"--framework=0", "--model=" + model(), "--weight=a.caffemodel", out}, "Caffe"), 255);
  EXPECT_EQ(refused({"--framework=1", "--model=" + model(), out}, "MindSpore"), 255);
  EXPECT_EQ(refused({"--framework=2", "--model=" + model(), out}, "E10001: --framework=2"), 255);
  EXPECT_EQ(refused({"--framework=five", "--model=" + model(), out}, "E10014"), 255);
  EXPECT_EQ(refused({"--framework=5", "--model=/nowhere.onnx", out}, "E10410"), 255);
  EXPECT_EQ(refused({"--framework=5", "--model=" + file("empty", ""), out}, "E10041"), 255);
  EXPECT_EQ(refused({"--framework=5", "--model=" + file("text", "hello, this is no model"), out}, "E10041"), 255);
  EXPECT_EQ(refused({"--framework=5", "--model=" + model("Frobnicate"), out}, "E16002"), 255);
  EXPECT_EQ(refused({"--framework=5", "--model=" + model()}, "E10007: --output is missing"), 255);
  EXPECT_EQ(refused({"--model=" + model(), out}, "E10007: --framework is missing"), 255);
  EXPECT_EQ(refused({"--framework=5", out}, "E10007: --model is missing"), 255);
  EXPECT_EQ(refused({"--framework=5", "--model=" + model(), "--output=" + std::string(5000, 'a')}, "E10021"), 255);
  EXPECT_FALSE(fs::exists(folder_ / "none.om"));
}

TEST_F(Atc, RefusesFlagsWithCodes) {
  EXPECT_EQ(refused(conversion({"--log=loud"}), "E10010"), 255);
  EXPECT_EQ(refused(conversion({"--save_original_model=yes"}), "E10005"), 255);
  EXPECT_EQ(refused(conversion({"--disable_reuse_memory=true"}), "E10006"), 255);
  EXPECT_EQ(refused(conversion({"--op_debug_level=9"}), "E10001"), 255);
  EXPECT_EQ(refused(conversion({"--output_type="}), "E10004"), 255);
  EXPECT_EQ(refused(conversion({"--signature_def=a"}), "--signature_def=a: the model has no signatures"), 255);
  const std::vector<std::string> frozen = {"--framework=3", "--model=" + text("\n"), "--output=/tmp/none",
                                           "--soc_version=Ascend310", "--signature_def=a"};
  EXPECT_EQ(refused(frozen, "--signature_def=a: the model has no signatures"), 255);
  EXPECT_EQ(refused(conversion({"--input_shapes=a:1"}), "E10003: there is no flag --input_shapes"), 255);
  EXPECT_EQ(refused(conversion({"model.onnx"}), "model.onnx is no flag"), 255);
  EXPECT_EQ(refused({"--mode=7"}, "E10001: --mode=7"), 255);
  EXPECT_EQ(refused({"--mode=30"}, "small devices"), 255);
  EXPECT_EQ(refused({"--mode=6", "--om=" + text(kText)}, "E10041"), 255);
  EXPECT_EQ(refused({"--mode=6"}, "E10007: --om is missing"), 255);
  EXPECT_EQ(refused({"--mode=6", "--om=" + file("vendor.om", "IMOD and more")}, "vendor's atc"), 255);
}

TEST_F(Atc, TellsWhatFlagsDoThatDoNotAct) {
  const std::string told = done(conversion({"--auto_tune_mode=RL,GA", "--buffer_optimize=l2_optimize"}));
  EXPECT_NE(told.find("--auto_tune_mode: tuned choices come"), std::string::npos) << told;
  EXPECT_NE(told.find("--buffer_optimize: operators are not tiled"), std::string::npos) << told;
  EXPECT_EQ(done(conversion({"--auto_tune_mode=RL,GA", "--log=error"})).find("--auto_tune_mode"), std::string::npos);
}

TEST(AtcFlags, AreAllThatTheVendorHas) {
  // Of public pages and scripts; h stands for help.
  const std::vector<std::string> known = {"model",
                                          "weight",
                                          "framework",
                                          "output",
                                          "soc_version",
                                          "input_shape",
                                          "input_format",
                                          "insert_op_conf",
                                          "output_type",
                                          "singleop",
                                          "out_nodes",
                                          "precision_mode",
                                          "input_fp16_nodes",
                                          "save_original_model",
                                          "log",
                                          "dynamic_batch_size",
                                          "dynamic_image_size",
                                          "op_select_implmode",
                                          "om",
                                          "mode",
                                          "json",
                                          "check_report",
                                          "dynamic_dims",
                                          "fusion_switch_file",
                                          "modify_mixlist",
                                          "target",
                                          "cal_conf",
                                          "op_name_map",
                                          "input_shape_range",
                                          "op_precision_mode",
                                          "keep_dtype",
                                          "is_input_adjust_hw_layout",
                                          "is_output_adjust_hw_layout",
                                          "optypelist_for_implmode",
                                          "disable_reuse_memory",
                                          "auto_tune_mode",
                                          "core_type",
                                          "aicore_num",
                                          "buffer_optimize",
                                          "enable_small_channel",
                                          "enable_compress_weight",
                                          "compress_weight_conf",
                                          "enable_single_stream",
                                          "dump_mode",
                                          "op_debug_level",
                                          "enable_scope_fusion_passes",
                                          "debug_dir",
                                          "op_compiler_cache_mode",
                                          "op_compiler_cache_dir",
                                          "mdl_bank_path",
                                          "op_bank_path",
                                          "display_model_info",
                                          "device_id",
                                          "precision_mode_v2",
                                          "customize_dtypes",
                                          "external_weight",
                                          "jit_compile",
                                          "deterministic"};
  const std::vector<std::string> ours = {"signature_def"};  // the vendor's reads no SavedModels
  const std::string text = help();
  for (const auto& names : {known, ours})
    for (const std::string& name : names) EXPECT_NE(text.find("--" + name + " "), std::string::npos) << name;
  EXPECT_EQ(all_flags().size(), known.size() + ours.size());
}

TEST(AtcCodes, HaveMeanings) {
  EXPECT_NE(meaning_of("E10018"), "");
  EXPECT_EQ(meaning_of("E00000"), "");
  EXPECT_EQ(code_of(Error(Code::kParseFile, "broken")), "E10041");
  EXPECT_EQ(code_of(Error(Code::kInvalidParam, "E10009: both")), "E10009");
  EXPECT_EQ(text_of(Error(Code::kInvalidParam, "E10009: both")), "both");
}

TEST_F(Atc, RefusesWhatItCannotReadOrWrite) {
  const std::string good = text(kText);
  const std::string out = "--json=" + (folder_ / "a.json").string();
  EXPECT_EQ(refused({"--mode=5", out}, "--om is missing"), 255);
  EXPECT_EQ(refused({"--mode=5", "--om=" + good}, "--json is missing"), 255);
  EXPECT_EQ(refused({"--mode=5", "--om"}, "--om has no value"), 255);
  EXPECT_EQ(refused({"mode=5"}, "mode=5 is no flag"), 255);
  EXPECT_EQ(refused({"--mode=5", "--om=/nowhere/a.txt", out}, "/nowhere/a.txt"), 255);
  EXPECT_EQ(refused({"--mode=5", "--om=" + good, "--json=" + good + "/b.json"}, "choose another path"), 255);
  EXPECT_EQ(refused({"--mode=5", "--om=" + good, "--json=" + folder_.string()}, "E10022"), 255);
  EXPECT_EQ(refused({"--mode=5", "--om=" + text("graph {\n op {\n"), out}, "line 3"), 255);
  EXPECT_EQ(refused({"--mode=5", "--om=" + text("name: \"a\""), out}, "it holds no graph"), 255);
  EXPECT_FALSE(fs::exists(folder_ / "a.json"));
}

TEST_F(Atc, AnyTextGivesJsonOrARefusal) {
  std::mt19937 random(18);
  const std::string out = folder_ / "fuzzed.json";
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  for (int i = 0; i < 300; ++i) {
    std::string damaged(kText);
    for (int change = 0; change < 1 + i % 4; ++change) damaged[random() % damaged.size()] = static_cast<char>(random());
    const int code = run({"--mode=5", "--om=" + text(damaged), "--json=" + out});
    EXPECT_TRUE(code == 0 || code == 255);
    EXPECT_TRUE(code != 0 || Json::try_parse(content(out)));
  }
  testing::internal::GetCapturedStdout();
  testing::internal::GetCapturedStderr();
}

}  // namespace
}  // namespace npu::atc
