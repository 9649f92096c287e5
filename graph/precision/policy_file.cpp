// SPDX-License-Identifier: Apache-2.0
#include "graph/precision/policy_file.h"

#include <filesystem>
#include <system_error>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/library_folder.h"
#include "base/setting.h"
#include "base/split.h"
#include "graph/ir/ir_type.h"

namespace npu::graph {
namespace {

namespace fs = std::filesystem;

NPU_SETTING(
    std::string, opp_folder, "ASCEND_OPP_PATH", "",
    "Folder of the operator information whose lists of mixed precision count (docs/tensorflow.md); torch-npu reads "
    "it, too, beside ASCEND_HOME_PATH. Empty: the installed one.");

constexpr std::string_view kConfig = "built-in/op_impl/ai_core/tbe/config";
constexpr uintmax_t kLargestFile = 64 << 20;  // a card's has a few MB

std::string config_folder() {
  if (!opp_folder().empty()) return fs::path(opp_folder()) / kConfig;
  for (const char* opp : {"../opp", "../toolkit/opp"}) {  // installed, and in a build folder
    const fs::path folder = library_folder() / opp / kConfig;
    std::error_code none;
    if (fs::is_directory(folder, none)) return folder;
  }
  return "";
}

Json read(const std::string& file) {
  std::error_code error;
  const uintmax_t size = fs::file_size(file, error);
  if (error) return nullptr;
  require(size <= kLargestFile, "{} has {} bytes; operator information has at most {}", file, size, kLargestFile);
  const std::optional<std::string> text = whole_file(file);
  const std::optional<Json> root = text ? Json::try_parse(*text) : std::nullopt;
  require(root && root->is_object(), "{} is no JSON object; mend it, or install AnyNPU anew", file);
  return *root;
}

/// The list that an operator's entry puts it on; without a flag what feeds it decides.
List list_in(const Json& entry, std::string_view op, const std::string& file) {
  const auto reduce = entry.is_object() ? entry.find("precision_reduce") : entry.end();
  if (reduce == entry.end()) return List::kGray;
  const std::string flag = reduce->is_object() && reduce->contains("flag") ? (*reduce)["flag"].dump() : "missing";
  require(flag == R"("true")" || flag == R"("false")",
          R"({}: the flag in precision_reduce of {} is {}; it is "true" (reduced) or "false" (never))", file, op, flag);
  return flag == R"("true")" ? List::kWhite : List::kBlack;
}

void take_file(const std::string& file, EditedLists& out) {
  const Json root = read(file);
  if (root.is_null()) return;
  for (const OperatorPrecision& op : all_precision()) {
    if (op.dtypes.empty()) continue;
    for (const std::string_view name : split(ir_types(op.op), " ")) {
      const auto entry = root.find(std::string(name));
      if (entry == root.end()) continue;
      const List list = list_in(*entry, name, file);
      const bool same = list == op.list || (list == List::kGray && op.list == List::kClear);
      if (same) continue;
      out.lists[op.op] = list;
      out.file = file;
    }
  }
}

}  // namespace

EditedLists detail::edited_lists(const std::string& config, const device::Soc& soc) {
  EditedLists out;
  for (const char* name : {soc.family, soc.name})
    take_file(fmt::format("{}/{}/aic-{}-ops-info.json", config, name, name), out);
  return out;
}

EditedLists edited_lists() {
  const std::string config = config_folder();
  return config.empty() ? EditedLists{} : detail::edited_lists(config, device::soc());
}

}  // namespace npu::graph
