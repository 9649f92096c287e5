// SPDX-License-Identifier: Apache-2.0
#include "tools/compare/face/two_files.h"

#include <fmt/ranges.h>

#include <filesystem>

#include "tools/compare/face/arguments.h"
#include "tools/compare/face/face.h"
#include "tools/compare/folder/dump_folder.h"
#include "tools/compare/network/tensor_row.h"

namespace npu::compare {
namespace {

namespace fs = std::filesystem;

/// "Name value" lines, one below the other as wide as the longer of each pair.
std::pair<std::string, std::string> aligned(const Metrics& metrics, const std::vector<std::string>& values) {
  std::string title, line;
  for (size_t i = 0; i < metrics.size(); ++i) {
    const size_t width = std::max(title.size(), line.size());
    title.resize(width, ' '), line.resize(width, ' ');
    title += fmt::format("{} ", name_of(metrics[i])), line += values[i] + " ";
  }
  return {title, line};
}

}  // namespace

int compare_two_files(const std::string& mine, const std::string& golden, const Metrics& metrics,
                      const std::string& output) {
  const Opened left({mine, mine, 0}), right({golden, golden, 0});
  if (left.outputs().empty() || right.outputs().empty())
    throw Refusal(Exit::kDamaged, fmt::format("There is no output in {}.", left.outputs().empty() ? mine : golden));
  const Tensor &a = left.outputs()[0], &b = right.outputs()[0];
  if (a.facts.shape != b.facts.shape)
    throw Refusal(Exit::kShape,
                  fmt::format("My output shape {} in '{}' does not match the ground truth shape {} in '{}'.",
                              shape_text(a.facts.shape), mine, shape_text(b.facts.shape), golden));
  TensorRow row;
  Options options;
  options.metrics = metrics;
  const bool boolean = a.facts.data_type == 11 && b.facts.data_type == 11;
  compare_views(plain_view(a), plain_view(b), {is_scalar(a.facts.shape), boolean, mine, golden}, options, row);
  const auto [title, line] = aligned(metrics, row.metrics);
  inform(title), inform(line);
  if (!row.reason.empty()) inform(row.reason);
  if (output.empty()) return 0;
  std::string text;
  for (size_t i = 0; i < metrics.size(); ++i) text += fmt::format("{}: {}\n", name_of(metrics[i]), row.metrics[i]);
  const std::string path = fs::path(output) / fmt::format("file_result_{}.txt", time_stamp());
  write_file(path, text);
  inform(fmt::format("The file compare result have been written to \"{}\".", path));
  return 0;
}

int file_compare_face(const Words& arguments) {
  std::string mine, golden, output;
  Arguments a;
  a.value("-m --my_dump_path", mine, "<Required> my array (.npy)", true);
  a.value("-g --golden_dump_path", golden, "<Required> the array that it is compared with (.npy)", true);
  a.value("-out --output", output, "<Required> the folder of the result", true);
  if (!a.read(arguments, "msaccucmp file_compare")) return 0;
  for (const std::string& path : {mine, golden}) {
    if (!path.ends_with(".npy"))
      throw Refusal(Exit::kFileType,
                    fmt::format("[file_compare] The file {} is invalid.Only support .npy file.", path));
    if (!fs::is_regular_file(path)) throw Refusal(Exit::kPath, fmt::format("{} is no file.", path));
  }
  Metrics metrics;
  for (const Metric metric : all_metrics())
    if (!needs_spread(metric)) metrics.push_back(metric);
  return compare_two_files(mine, golden, metrics, output);
}

}  // namespace npu::compare
