// SPDX-License-Identifier: Apache-2.0
#include "tools/atc/command.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "graph/dump/record/graph_text.h"
#include "graph/dump/record/mapped_file.h"

namespace npu::atc {
namespace {

namespace fs = std::filesystem;
using Options = std::map<std::string, std::string>;

constexpr int kFailed = 255;
constexpr std::string_view kGraphMode = "5";
/// What the modes that are not built would do, and what does it here.
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kOtherModes = {{
    {"0",
     "makes an offline model (.om) of a model file, which is not built; run the model in its framework on the NPU"},
    {"1",
     "turns an offline model (.om) into JSON, and models of that form are not built; for the text of a dumped graph "
     "use --mode=5"},
    {"3",
     "checks a model file before it is converted, which is not built; run the model in its framework on the NPU: "
     "anynpu run --report tells which of its operators the NPU runs"},
    {"6",
     "shows what is in an offline model (.om), and models of that form are not built; DUMP_GE_GRAPH=2 writes what a "
     "graph of TensorFlow became"},
    {"30", "makes an offline model for small devices, which is not built; run the model in its framework on the NPU"},
}};

constexpr const char* kHelp =
    "usage: atc --mode=5 --om=ge_proto_NNNNN_Build.txt --json=OUT.json\n\n"
    "  --mode  5: the text of a dumped graph becomes the JSON that msaccucmp takes with -f; no other mode is built\n"
    "  --om    the text: DUMP_GE_GRAPH, and any dump of tensors, writes it\n"
    "  --json  the file that is written\n";

[[noreturn]] void refuse(const std::string& text) { throw Error(Code::kInvalidParam, text); }

/// "--name=value" and "--name value".
Options read(const std::vector<std::string>& arguments) {
  Options found;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (!word.starts_with("--"))
      refuse(fmt::format("{} is no option; options read --name=value, as in --mode=5", word));
    const size_t sign = word.find('=');
    if (sign == word.npos && i + 1 == arguments.size())
      refuse(fmt::format("{} has no value; write {}=VALUE", word, word));
    const std::string name = word.substr(2, sign == word.npos ? sign : sign - 2);
    found[name] = sign == word.npos ? arguments[++i] : word.substr(sign + 1);
  }
  return found;
}

void check_mode(const Options& options) {
  const auto at = options.find("mode");
  const std::string_view mode = at == options.end() ? "0" : std::string_view(at->second);
  if (mode == kGraphMode) return;
  const auto* known = std::ranges::find(kOtherModes, mode, &std::pair<std::string_view, std::string_view>::first);
  if (known == kOtherModes.end()) refuse(fmt::format("--mode={} is no mode; 5 is built: --om=TEXT --json=OUT", mode));
  throw Error(Code::kFeatureUnsupported,
              fmt::format("--mode={}{} {}", mode, at == options.end() ? " (the default)" : "", known->second));
}

const std::string& needed(const Options& options, const std::string& name, const char* what) {
  const auto at = options.find(name);
  if (at == options.end() || at->second.empty()) refuse(fmt::format("--{} is missing: {}", name, what));
  return at->second;
}

std::string json_of(const std::string& path) {
  const graph::record::MappedFile file(path);
  try {
    nlohmann::json graph = graph::record::parse_graph_text(file.text());
    if (!graph.contains("graph")) fail(Code::kParseFile, "it holds no graph");
    return graph.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  } catch (const Error& reason) {
    fail(Code::kParseFile, "{}: {}; give --om the text of a dumped graph, ge_proto_*_Build.txt", path,
         reason.message());
  }
}

void write(const std::string& path, const std::string& text) {
  if (const fs::path folder = fs::path(path).parent_path(); !folder.empty()) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) fail(Code::kInvalidFile, "{}: {}; choose another --json", folder.string(), error.message());
  }
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  if (!out) fail(Code::kInvalidFile, "{}: {}; choose another --json", path, std::strerror(errno));
}

void convert(const std::vector<std::string>& arguments) {
  const Options options = read(arguments);
  check_mode(options);
  for (const auto& [name, value] : options)
    if (name != "mode" && name != "om" && name != "json")
      refuse(fmt::format("--{} has no meaning with --mode=5, which takes --om and --json", name));
  const std::string& from = needed(options, "om", "the text of a dumped graph, ge_proto_*_Build.txt");
  write(needed(options, "json", "the file to write"), json_of(from));
}

}  // namespace

int run(const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments[0] == "--help" || arguments[0] == "-h") return fmt::print("{}", kHelp), 0;
  fmt::print("ATC start working now\n");
  try {
    convert(arguments);
  } catch (const std::exception& reason) {
    fmt::print(stderr, "atc: {}\n", reason.what());
    fmt::print("ATC run failed; atc --help tells the options\n");
    return kFailed;
  }
  fmt::print("ATC run success\n");
  return 0;
}

}  // namespace npu::atc
