// SPDX-License-Identifier: Apache-2.0
// Steps for scripts on tf.compat.v1.
#include <algorithm>

#include "tools/migrate/migration/argument.h"
#include "tools/migrate/migration/code.h"

namespace npu::migrate {
namespace {

using enum Kind;

bool is_host(const Value& value) {
  if (value.is_constant()) return value.text == "None";
  if (!value.is_text()) return false;
  std::string text = value.text;
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text.find("cpu") != text.npos;
}

/// tf.device(x) means the host, if it does not yet.
bool device_on_host(Migration& migration, const Rule&, Node call, size_t change) {
  const Node where = Arguments(call).value(0, "device_name_or_function");
  if (!where || std::ranges::all_of(migration.script.names().of(where), is_host)) return false;
  migration.rewriter.edits().replace(where.begin(), where.end(), "'/cpu:0'", change);
  return true;
}

constexpr std::string_view kWrapper = "npu_distributed_optimizer_wrapper(";

/// compile(optimizer=…) of Keras; an optimizer of tf.train is wrapped where it is made.
bool wrap_compiled_optimizer(Migration& migration, const Rule&, Node call, size_t change) {
  const Node value = Arguments(call).value(0, "optimizer");
  if (!value) return false;
  const auto wrapped = [](const Value& each) {
    return each.ends_with("npu_distributed_optimizer_wrapper()") || each.ends_with("Optimizer()");
  };
  // Where the file has two imports of `*`, nobody knows whose name it is: how it is spelled counts too.
  if (std::ranges::any_of(migration.script.names().of(value), wrapped) || value.text().starts_with(kWrapper))
    return false;
  migration.rewriter.edits().wrap(value.begin(), value.end(), "npu_distributed_optimizer_wrapper(", ")", change);
  return true;
}

const CodeEntry device("device_on_host", device_on_host), compiled("wrap_compiled_optimizer", wrap_compiled_optimizer);

}  // namespace
}  // namespace npu::migrate
