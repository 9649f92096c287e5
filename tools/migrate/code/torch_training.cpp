// SPDX-License-Identifier: Apache-2.0
// Arguments of torch's calls that need more than another word.
#include "tools/migrate/migration/argument.h"
#include "tools/migrate/migration/code.h"

namespace npu::migrate {
namespace {

using enum Kind;

/// torch.get_autocast_gpu_dtype() becomes torch.get_autocast_dtype("npu").
bool autocast_dtype(Migration& migration, const Rule&, Node node, size_t change) {
  const Node function = node.child(Field::k_function), list = node.child(Field::k_arguments);
  if (!function.is(k_attribute) || !list.named().empty()) return false;
  const Node name = function.child(Field::k_attribute);
  migration.rewriter.edits().replace(name.begin(), list.end(), "get_autocast_dtype(\"npu\")", change);
  return true;
}

/// "cpu:gloo,cuda:nccl" says which library is for which device.
bool backend_map(Migration& migration, const Rule&, Node node, size_t change) {
  constexpr std::string_view kOld = "cuda:nccl";
  const Node backend = Arguments(node).value(0, "backend");
  if (!backend) return false;
  bool done = false;
  for (const Value& value : migration.script.names().of(backend)) {
    const size_t at = value.is_text() ? value.text.find(kOld) : std::string::npos;
    if (at == std::string::npos || value.origin.file != migration.script.names().file()) continue;
    if (!migration.rewriter.take_literal(value.origin)) continue;
    migration.rewriter.edits().replace(value.origin.begin + at, value.origin.begin + at + kOld.size(), "npu:hccl",
                                       change);
    done = true;
  }
  return done;
}

/// use_cuda=x becomes use_device="npu" if x else None.
bool use_cuda(Migration& migration, const Rule&, Node node, size_t change) {
  const Node keyword = Arguments(node).keyword("use_cuda");
  if (!keyword) return false;
  const Node name = keyword.child(Field::k_name), value = keyword.child(Field::k_value);
  if (value.is(k_false)) return false;
  migration.rewriter.edits().replace(name.begin(), name.end(), "use_device", change);
  migration.rewriter.edits().wrap(value.begin(), value.end(), "\"npu\" if ", " else None", change);
  return true;
}

bool load(Migration& migration, const Rule& rule, Node node, size_t) {
  const Arguments arguments(node);
  if (!arguments.value(1, "map_location") && !arguments.open())
    migration.ledger.note(rule, node, "note",
                          "a file that was saved on a GPU loads only with map_location=\"npu\" or \"cpu\"");
  return false;
}

bool smi(Migration& migration, const Rule& rule, Node node, size_t) {
  if (node.child(Field::k_arguments).text().find("nvidia-smi") != std::string_view::npos)
    migration.ledger.note(rule, node, "manual",
                          "nvidia-smi is not there beside NPUs; `npu-smi info` tells of them, in a form of its own");
  return false;
}

/// Lists a value, `key`, that asks for something NVIDIA's; `after` says what to do.
bool listed_value(Migration& migration, const Rule& rule, Node node, size_t) {
  const Action& action = rule.actions[0];
  for (const Value& value : migration.script.names().of(node))
    if ((value.is_text() || value.is_constant()) && value.whole && value.text == action.key) {
      migration.ledger.note(rule, node, "manual", action.after);
      break;
    }
  return false;
}

const CodeEntry kLoad("torch-load", load), kSmi("torch-smi", smi), kListed("torch-listed-value", listed_value);
const CodeEntry kDtype("torch-autocast-dtype", autocast_dtype), kMap("torch-backend-map", backend_map),
    kUse("torch-use-cuda", use_cuda);

}  // namespace
}  // namespace npu::migrate
