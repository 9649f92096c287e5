// SPDX-License-Identifier: Apache-2.0
#include "graph/run/switched_off.h"

#include <fmt/ranges.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/setting.h"
#include "base/split.h"
#include "graph/passes/fusion_switch.h"
#include "graph/passes/pipeline.h"

namespace npu::graph {
namespace {

NPU_SETTING(std::string, fusions_off, "ANYNPU_FUSION_OFF", "",
            "Fusion passes that do not run, whatever fusion_switch_file says: ALL, or names joined by commas.");
NPU_SETTING(std::string, keep_file, "ANYNPU_KEEP_DTYPE", "",
            "File with the name of a node in each line: these compute in the dtype that the graph says, whatever the "
            "options of precision say.");

std::vector<std::string_view> fusion_names() {
  std::vector<std::string_view> names;
  for (const Pass& pass : all_passes())
    if (pass.group != FusionGroup::kNone) names.push_back(pass.name);
  return names;
}

}  // namespace

void obey_environment(PassOptions& options) {
  if (!fusions_off().empty()) switch_off_fusions(options, fusions_off());
  if (!keep_file().empty()) keep_dtypes(options, keep_file());
}

void switch_off_fusions(PassOptions& options, std::string_view names) {
  std::string lines;
  for (const std::string_view name : split(names, ",")) lines += fmt::format("{}:off\n", name);
  const FusionSwitch read = read_fusion_switch(lines);
  if (!read.unknown.empty())
    fail(Code::kNnInvalidParam, "ANYNPU_FUSION_OFF: there is no fusion {}; there are ALL, {}", read.unknown.front(),
         fmt::join(fusion_names(), ", "));
  options.skip.insert(options.skip.end(), read.off.begin(), read.off.end());
}

void keep_dtypes(PassOptions& options, const std::string& file) {
  const std::optional<std::string> text = whole_file(file);
  if (!text)
    fail(Code::kInvalidFile, "ANYNPU_KEEP_DTYPE is {}: {}; name a file that can be read", file, std::strerror(errno));
  options.precision.keep(*text);
}

}  // namespace npu::graph
