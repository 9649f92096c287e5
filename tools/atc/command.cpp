// SPDX-License-Identifier: Apache-2.0
#include "tools/atc/command.h"

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "base/error.h"
#include "base/json.h"
#include "graph/dump/record/graph_text.h"
#include "tools/atc/engine.h"
#include "tools/atc/facts.h"
#include "tools/atc/file.h"
#include "tools/atc/flag.h"
#include "tools/atc/refusal.h"

namespace npu::atc {
namespace {

namespace fs = std::filesystem;

constexpr int kFailed = 255;
constexpr std::string_view kOwnMagic = "\x89NPUG";

std::string value_of(const Flags& flags, const std::string& name, const std::string& otherwise = "") {
  const auto at = flags.find(name);
  return at == flags.end() ? otherwise : at->second;
}

const std::string& needed(const Flags& flags, const std::string& name, const char* what) {
  const auto at = flags.find(name);
  if (at == flags.end()) refuse("E10007", "--{} is missing: {}", name, what);
  return at->second;
}

bool quiet(const Flags& flags) { return value_of(flags, "log") == "null" || value_of(flags, "log") == "error"; }

/// The flags as they were written, for the facts of the file.
std::string command_line(const std::vector<std::string>& arguments) {
  std::string out = "atc";
  for (const std::string& word : arguments) out += " " + word;
  return out;
}

/// The file that says what a model computes; of a SavedModel's folder the one in it.
std::string file_of_model(const std::string& path) {
  if (!fs::is_directory(path)) return path;
  const fs::path inside = fs::path(path) / "saved_model.pb";
  if (fs::exists(inside)) return inside;
  refuse("E10410", "--model={}: the folder holds no saved_model.pb; name a file, or the folder of a SavedModel{}", path,
         fs::exists(fs::path(path) / "saved_model.pbtxt") ? " saved as_text=False" : "");
}

Source source_of(const Flags& flags) {
  Source out;
  out.framework = std::stoi(needed(flags, "framework", "who wrote the model: 5 for ONNX, 3 for TensorFlow"));
  out.path = needed(flags, "model", "the model to convert");
  out.bytes = read_file("model", file_of_model(out.path));
  out.name = fs::path(value_of(flags, "output", out.path)).filename().stem();
  return out;
}

std::string converted(const Source& source, const Flags& flags) {
  return convert(source, flags, [&](const std::string& line) {
    if (!quiet(flags)) fmt::print("{}\n", line);
  });
}

/// A file for each operator, as aclopSetModelDir looks for them.
void make_operators(const Flags& flags) {
  const fs::path folder = needed(flags, "output", "the folder where the .om files go");
  convert_operators(read_file("singleop", flags.at("singleop")), [&](const std::string& name, std::string_view bytes) {
    write_file("output", folder / name, bytes);
  });
}

void make_om(const Flags& flags) {
  if (flags.contains("singleop")) return make_operators(flags);
  const std::string output = needed(flags, "output", "where the .om goes");
  const Source source = source_of(flags);
  if (!quiet(flags))
    for (const std::string& line : lines_of_idle(flags)) fmt::print("{}\n", line);
  const std::string om = converted(source, flags);
  write_file("output", output + ".om", om);
  if (value_of(flags, "display_model_info") == "1") fmt::print("{}", lines_of_facts(facts_of_om(om)));
}

/// Of an .om, or of a model that can become one.
void make_json(const Flags& flags) {
  const std::string json = needed(flags, "json", "the file to write");
  const bool after_passes = value_of(flags, "dump_mode", "1") == "1";
  if (flags.contains("model") && !flags.contains("om"))
    return write_file("json", json, json_of_om(converted(source_of(flags), flags), after_passes));
  const std::string path = needed(flags, "om", "the .om to read");
  const std::string bytes = read_file("om", path);
  if (bytes.starts_with(kOwnMagic) || !flags.contains("framework"))
    return write_file("json", json, json_of_om(bytes, after_passes));
  Flags model = flags;
  model["model"] = path;
  write_file("json", json, json_of_om(converted(source_of(model), model), after_passes));
}

/// Gives whether all can be converted.
bool check_model(const Flags& flags) {
  const std::string report = check(source_of(flags), flags);
  const std::string path = value_of(flags, "check_report", "check_result.json");
  write_file("check_report", path, report);
  const Json read = Json::parse(report);
  fmt::print("{}: {} operators, {}\n", path, read.at("op").size(), read.at("result").get<std::string>());
  return read.at("result") == "success";
}

std::string json_of_text(const std::string& path) {
  const std::string text = read_file("om", path);
  try {
    Json graph = graph::record::parse_graph_text(text);
    if (!graph.contains("graph")) fail(Code::kParseFile, "it holds no graph");
    return graph.dump(1, InvalidUtf8::kReplace) + "\n";
  } catch (const Error& reason) {
    refuse("E10041", "{}: {}; give --om the text of a dumped graph, ge_proto_*_Build.txt", path, reason.message());
  }
}

bool convert_in_mode(const Flags& flags) {
  const std::string mode = value_of(flags, "mode", "0");
  if (mode == "3") return check_model(flags);
  if (mode == "30") refuse("E10001", "--mode=30 makes models for small devices, which are not built; use --mode=0");
  if (mode == "0") {
    make_om(flags);
  } else if (mode == "1") {
    make_json(flags);
  } else if (mode == "5") {
    const std::string text = needed(flags, "om", "the text of a dumped graph, ge_proto_*_Build.txt");
    const std::string json = needed(flags, "json", "the file to write");
    write_file("json", json, json_of_text(text));
  } else {
    fmt::print("{}", lines_of_facts(facts_of_om(read_file("om", needed(flags, "om", "the .om to read")))));
  }
  return true;
}

int failed() {
  fmt::print("ATC run failed; atc --help tells the flags\n");
  return kFailed;
}

void tell(const Error& error) {
  const std::string_view code = code_of(error);
  fmt::print(stderr, "{}: {}\n", code, text_of(error));
  if (const std::string_view meaning = meaning_of(code); !meaning.empty())
    fmt::print(stderr, "        what the code means: {}; docs/models.md tells all codes\n", meaning);
}

}  // namespace

int run(const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments[0] == "--help" || arguments[0] == "-h" || arguments[0] == "--h")
    return fmt::print("{}", help()), 0;
  fmt::print("ATC start working now\n");
  try {
    Flags flags = read_flags(arguments);
    flags["command_line"] = command_line(arguments);
    if (!convert_in_mode(flags)) return failed();
  } catch (const Error& reason) {
    tell(reason);
    return failed();
  } catch (const std::exception& reason) {
    tell(Error(Code::kInternal, reason.what()));
    return failed();
  }
  fmt::print("ATC run success\n");
  return 0;
}

}  // namespace npu::atc
