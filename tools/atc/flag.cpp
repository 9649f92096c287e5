// SPDX-License-Identifier: Apache-2.0
#include "tools/atc/flag.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>

#include "tools/atc/refusal.h"

namespace npu::atc {
namespace {

constexpr std::string_view kNoTiling = "operators are not tiled for cores here; results and speed do not depend on it";
constexpr std::string_view kNoCompress = "weights stay as the model has them; nothing is compressed";
constexpr std::string_view kNoFiles =
    "no operator is compiled to a file of its own, so there is nothing to keep or write";
constexpr std::string_view kNoTuning = "tuned choices come from the banks that the environment names (docs/tuning.md)";

constexpr Flag kFlags[] = {
    {"mode", "0 model to .om, 1 model to JSON, 3 check of a model, 5 dumped graph to JSON, 6 facts of an .om",
     Value::kText, true, "0 1 3 5 6 30"},
    {"model", "the model to convert; of a SavedModel its folder"},
    {"framework", "who wrote it: 3 TensorFlow (.pb, SavedModel), 5 ONNX; 0 Caffe and 1 MindSpore are refused",
     Value::kNumber},
    {"output", "where the .om goes: PATH gives PATH.om"},
    {"soc_version", "the SoC named in the file; a model runs on any"},
    {"input_shape", "sizes of inputs: \"a:1,3,224,224;b:1,10\"; -1 where gears or the call decide, 1~8 for a range"},
    {"input_shape_range", "the same with ranges: \"a:[1~8,3,-1]\""},
    {"input_format", "meaning of the axes", Value::kText, true, "NCHW NHWC NCDHW ND"},
    {"dynamic_batch_size", "gears of the first size: \"1,2,4,8\""},
    {"dynamic_image_size", "gears of height and width: \"416,416;832,832\""},
    {"dynamic_dims", "gears of all sizes that are -1: \"1,2;4,8\""},
    {"output_type", "FP32, FP16, UINT8 for all outputs, or \"node:0:FP16;node2:1:FP32\""},
    {"out_nodes", "outputs instead of the model's: \"node:0;node2:1\""},
    {"signature_def", "of a SavedModel: which of its signatures; serving_default unless it is given"},
    {"input_fp16_nodes", "inputs that are to be float16: \"a;b\""},
    {"insert_op_conf", "file of AIPP, the preprocessing of images"},
    {"precision_mode", "in which types operators compute; force_fp16 unless it is given"},
    {"precision_mode_v2", "the same in newer words: fp16, origin, cube_fp16in_fp32out, mixed_float16, mixed_bfloat16"},
    {"modify_mixlist", "file that changes the lists of the mixed modes"},
    {"customize_dtypes", "file with types of single operators"},
    {"op_precision_mode", "file with implementations of single operators"},
    {"keep_dtype", "file with operators that keep their types"},
    {"fusion_switch_file", "file that switches passes off"},
    {"om", "with --mode=1, 5 and 6: the file to read"},
    {"json", "with --mode=1 and 5: the file to write"},
    {"dump_mode", "with --mode=1: 1 the graph after the passes, 0 before them", Value::kSwitch},
    {"check_report", "with --mode=3: the file to write; check_result.json unless it is given"},
    {"display_model_info", "1: tells what is in the .om, as --mode=6", Value::kSwitch},
    {"log", "how much is told of the conversion", Value::kText, true, "debug info warning error null"},
    {"singleop", "JSON that lists single operators: a file of each goes into the folder --output names"},
    // Accepted.
    {"weight", "Caffe's weights, and Caffe is not read here", Value::kText, false},
    {"op_name_map", "of Caffe's own layers, and Caffe is not read here", Value::kText, false},
    {"target", "there is one target, this library", Value::kText, false},
    {"cal_conf", "calibration is part of the model: quantise it before the export", Value::kText, false},
    {"save_original_model", "the .om holds the model before the passes in any case: --mode=1 shows it", Value::kTruth,
     false},
    {"is_input_adjust_hw_layout", "inputs keep the layout of the model", Value::kText, false},
    {"is_output_adjust_hw_layout", "outputs keep the layout of the model", Value::kText, false},
    {"op_select_implmode", "there is one implementation of each operator, the precise one", Value::kText, false,
     "high_precision high_performance high_precision_for_all high_performance_for_all"},
    {"optypelist_for_implmode", "there is one implementation of each operator, the precise one", Value::kText, false},
    {"disable_reuse_memory", "memory is planned when the model runs; ANYNPU_NO_REUSE_MEM there keeps blocks apart",
     Value::kSwitch, false},
    {"auto_tune_mode", kNoTuning, Value::kText, false},
    {"mdl_bank_path", kNoTuning, Value::kText, false},
    {"op_bank_path", kNoTuning, Value::kText, false},
    {"core_type", kNoTiling, Value::kText, false, "VectorCore AiCore"},
    {"aicore_num", kNoTiling, Value::kText, false},
    {"buffer_optimize", kNoTiling, Value::kText, false, "l1_optimize l2_optimize off_optimize"},
    {"enable_small_channel", kNoTiling, Value::kSwitch, false},
    {"enable_single_stream", "a run of a model is one task in any case", Value::kTruth, false},
    {"enable_compress_weight", kNoCompress, Value::kTruth, false},
    {"compress_weight_conf", kNoCompress, Value::kText, false},
    {"external_weight", "weights are mapped from the .om as they are used, also large ones", Value::kSwitch, false},
    {"enable_scope_fusion_passes", "passes find what scopes name by the nodes themselves", Value::kText, false},
    {"op_debug_level", kNoFiles, Value::kNumber, false, "0 1 2 3 4"},
    {"debug_dir", kNoFiles, Value::kText, false},
    {"op_compiler_cache_mode", kNoFiles, Value::kText, false, "enable disable force"},
    {"op_compiler_cache_dir", kNoFiles, Value::kText, false},
    {"device_id", "the conversion needs no device", Value::kNumber, false},
    {"jit_compile", "operators are ready; nothing is compiled while a model runs", Value::kText, false},
    {"deterministic", "results do not depend on threads or runs in any case", Value::kSwitch, false},
};

const Flag* find(std::string_view name) {
  const auto* at = std::ranges::find(kFlags, name, &Flag::name);
  return at == std::end(kFlags) ? nullptr : at;
}

bool is_one_of(std::string_view value, std::string_view words) {
  const std::string padded = " " + std::string(words) + " ";
  return padded.find(" " + std::string(value) + " ") != padded.npos;
}

void check(const Flag& flag, const std::string& value) {
  if (value.empty()) refuse("E10004", "--{} has no value", flag.name);
  if (flag.name == "log" && !is_one_of(value, flag.one_of))
    refuse("E10010", "--log={}: it is one of {}", value, flag.one_of);
  if (flag.value == Value::kTruth && value != "true" && value != "false")
    refuse("E10005", "--{}={}: it is true or false", flag.name, value);
  if (flag.value == Value::kSwitch && value != "0" && value != "1")
    refuse("E10006", "--{}={}: it is 1 or 0", flag.name, value);
  int number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (flag.value == Value::kNumber && (error != std::errc() || end != value.data() + value.size()))
    refuse("E10014", "--{}={}: it is a number", flag.name, value);
  if (!flag.one_of.empty() && !is_one_of(value, flag.one_of))
    refuse("E10001", "--{}={}: it is one of {}", flag.name, value, flag.one_of);
}

/// What CLI11 found wrong, in our words.
[[noreturn]] void refuse_arguments(const std::vector<std::string>& arguments, const CLI::Error& error) {
  for (const std::string& word : arguments) {
    const std::string name = word.substr(0, word.find('='));
    if (!word.starts_with("--")) refuse("E10003", "{} is no flag; flags read --name=value", word);
    if (find(std::string_view(name).substr(2)) == nullptr)
      refuse("E10003", "there is no flag {}; atc --help tells all", name);
    if (word.ends_with('=')) refuse("E10004", "{} has no value; write {}VALUE", name, word);
    if (word == name && &word == &arguments.back()) refuse("E10004", "{} has no value; write {}=VALUE", word, word);
  }
  refuse("E10003", "the flags cannot be read: {}; flags read --name=value", error.what());
}

}  // namespace

std::span<const Flag> all_flags() { return kFlags; }

Flags read_flags(const std::vector<std::string>& arguments) {
  CLI::App app;
  app.set_help_flag();
  std::map<std::string, std::string, std::less<>> values;
  for (const Flag& flag : kFlags)
    app.add_option("--" + std::string(flag.name), values[std::string(flag.name)])->take_last()->expected(1);
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());  // as CLI11 takes them
  try {
    app.parse(reversed);
  } catch (const CLI::Error& error) {
    refuse_arguments(arguments, error);
  }
  Flags out;
  for (const Flag& flag : kFlags) {
    const std::string name(flag.name);
    if (app.count("--" + name) == 0) continue;
    check(flag, values[name]);
    out[name] = values[name];
  }
  return out;
}

std::vector<std::string> lines_of_idle(const Flags& flags) {
  std::vector<std::string> out;
  for (const Flag& flag : kFlags)
    if (!flag.acts && flags.contains(std::string(flag.name)))
      out.push_back(fmt::format("--{}: {}", flag.name, flag.help));
  return out;
}

std::string help() {
  std::string out =
      "usage: atc --framework=5 --model=MODEL.onnx --output=OUT --soc_version=SOC [--input_shape=…] …\n"
      "       atc --mode=1 --om=OUT.om --json=OUT.json        the graph of an .om\n"
      "       atc --mode=3 --framework=5 --model=MODEL.onnx   which operators can be converted\n"
      "       atc --mode=5 --om=ge_proto_NNNNN_Build.txt --json=OUT.json\n"
      "       atc --mode=6 --om=OUT.om                        what is in an .om; checks its weights\n\n";
  for (const bool acts : {true, false}) {
    out += acts ? "Flags:\n" : "\nAccepted for the sake of scripts, and what is true of each:\n";
    for (const Flag& flag : kFlags)
      if (flag.acts == acts) out += fmt::format("  --{:<28} {}\n", flag.name, flag.help);
  }
  return out;
}

}  // namespace npu::atc
