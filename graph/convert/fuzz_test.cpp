// SPDX-License-Identifier: Apache-2.0
// Damaged files of atc: each is refused with an Error, or read. Rounds as base/damage_fixture.h says.
#include <gtest/gtest.h>

#include "base/damage_fixture.h"
#include "base/json.h"
#include "graph/convert/request.h"
#include "graph/model/aipp.h"
#include "graph/model/aipp_fixture.h"
#include "graph/passes/fusion_switch.h"
#include "graph/precision/precision.h"

namespace npu::graph::convert {
namespace {

constexpr std::string_view kAippList =
    "aipp_op { aipp_mode: static related_input_rank: 2 input_format: RGB888_U8 src_image_size_w: 16 "
    "src_image_size_h: 16 input_edge_idx: [0, 1] }";
constexpr std::string_view kFusionSwitch = R"({
  "Switch": {"GraphFusion": {"ALL": "on", "LayerNormFusionPass": "off"}, "elementwise": "on",
             "UBFusion": {"TbePool2dQuantFusionPass": "off"}}})";
constexpr std::string_view kFusionLines = "elementwise:off\n# remark\nAABiasaddConvFusion : on\nALL:off\n";
constexpr std::string_view kMixlist = R"({
  "black-list": {"to-add": ["Relu", "Softmax"], "to-remove": ["Xlog1py"]}, // remark
  "white-list": {"to-add": ["Add"], "to-remove": ["MatMul"]}, "gray-list": {"to-add": ["Mul"]}})";
constexpr std::string_view kDTypes =
    "model/dense/MatMul::InputDtype:float16,float16,OutputDtype:float32\nOpType::Relu:InputDtype:float16\n";
constexpr std::string_view kImplementations =
    "[ByOpType]\nSoftmaxV2=high_precision\n[ByNodeName]\nmodel/Add=keep_fp16\n";
constexpr std::string_view kKept = "model/dense/MatMul\n# remark\nmodel/Add;OpType::Relu\n";

struct Text {
  std::string_view whole;
  void (*read)(const std::string& text);
};

template <const char* option>
void set_precision(const std::string& text) {
  Precision().set(option, text);
}

constexpr char kModify[] = "modify_mixlist", kCustom[] = "customize_dtypes", kMode[] = "op_precision_mode",
               kKeep[] = "keep_dtype";

void expect_read_or_refused(const Text& text, size_t least_accepted) {
  const Rounds rounds = fuzz(
      3000, [&](size_t, Random& random) { text.read(damaged_text_often(random, std::string(text.whole), text.whole)); },
      100000);
  EXPECT_GT(rounds.refused, 100u);
  EXPECT_GE(rounds.accepted, least_accepted);
}

TEST(FuzzAipp, DamagedConfigurationsAreRefusedOrRead) {
  const auto read = [](const std::string& text) {
    for (const model::Aipp& aipp : model::read_aipp(text, "a.cfg")) {
      Attributes attributes;
      set_attributes(aipp, attributes);
      model::aipp_from_json(to_json(model::aipp_of(attributes)));
      if (!aipp.dynamic()) aipp_block(aipp);
    }
  };
  const std::string text = fmt::format("{}\n{}", model::kAippText, kAippList);
  expect_read_or_refused({text, read}, 100);
}

const Text kFiles[] = {
    {kFusionSwitch, [](const std::string& text) { read_fusion_switch(text); }},
    {kFusionLines, [](const std::string& text) { read_fusion_switch(text); }},
    {kMixlist, set_precision<kModify>},
    {kDTypes, set_precision<kCustom>},
    {kImplementations, set_precision<kMode>},
};

TEST(FuzzFlagFiles, DamagedTextsAreRefusedOrRead) {
  const Rounds rounds = fuzz(
      6000,
      [](size_t round, Random& random) {
        const Text& text = kFiles[round % std::size(kFiles)];
        const std::string_view words = kFiles[below(random, std::size(kFiles))].whole;
        text.read(damaged_text_often(random, std::string(text.whole), words));
      },
      100000);
  EXPECT_GT(rounds.refused, 1000u);
  EXPECT_GT(rounds.accepted, 100u);
}

/// Any text is a list of names; what counts is that none of them is taken for another.
TEST(FuzzFlagFiles, DamagedListsOfNamesAreRead) {
  const Rounds rounds = fuzz(
      1000, [](size_t, Random& random) { set_precision<kKeep>(damaged_text_often(random, std::string(kKept), kKept)); },
      100000);
  EXPECT_GT(rounds.accepted, 100u);
}

TEST(FuzzFlags, DamagedFlagsAreRefusedOrRead) {
  static const std::pair<const char*, std::string_view> kFlags[] = {
      {"input_shape", "x:1,3,-1,8;y:1~4,[2];z:"},
      {"input_shape_range", "x:[1~-1,3];w:2"},
      {"dynamic_batch_size", "1,2,4,8"},
      {"dynamic_image_size", "4,5;6,7"},
      {"dynamic_dims", "1,2,3;4,5,6"},
      {"output_type", "conv:0:FP16;fc:1:UINT8"},
      {"input_format", "NCHW"},
      {"input_fp16_nodes", "x;y"},
      {"out_nodes", "conv:0;fc:1"},
      {"precision_mode_v2", "mixed_float16"},
  };
  const Rounds rounds = fuzz(
      3000,
      [&](size_t, Random& random) {
        Flags flags;
        for (size_t n = 1 + below(random, 3); n > 0; --n) {
          const auto& [name, value] = kFlags[below(random, std::size(kFlags))];
          const std::string_view words = kFlags[below(random, std::size(kFlags))].second;
          flags[name] = damaged_text(random, std::string(value), words);
        }
        read_request(flags);
      },
      100000);
  EXPECT_GT(rounds.refused, 100u);
  EXPECT_GT(rounds.accepted, 100u);
}

}  // namespace
}  // namespace npu::graph::convert
