// SPDX-License-Identifier: Apache-2.0
// Arguments of torch's calls that need more than another word.
#include <fmt/format.h>

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

/// torch.cuda.amp.GradScaler(…) becomes torch.amp.GradScaler("npu", …).
bool scaler_device(Migration& migration, const Rule&, Node node, size_t change) {
  const Node list = Arguments(node).list();
  if (!list || !list.is(k_argument_list)) return false;
  migration.rewriter.edits().insert(list.begin() + 1, list.named().empty() ? "\"npu\"" : "\"npu\", ", change);
  return true;
}

/// range("{}", i) becomes annotate("{}".format(i)).
bool nvtx_range(Migration& migration, const Rule&, Node node, size_t change) {
  const Node list = Arguments(node).list();
  if (!list || !list.is(k_argument_list)) return false;
  const std::vector<Node> arguments = list.named();
  if (arguments.size() < 2) return false;
  migration.rewriter.edits().replace(arguments[0].end(), arguments[1].begin(), ".format(", change);
  migration.rewriter.edits().append(arguments.back().end(), ")", change);
  return true;
}

/// The option that is called so, or none: a string among the first arguments.
Node option_called(const Arguments& arguments, std::string_view name) {
  for (int i = 0; const Node each = arguments.at(i); ++i)
    if (each.is(k_string) && each.text().size() == name.size() + 2 && each.text().substr(1, name.size()) == name)
      return each;
  return {};
}

/// add_argument("--local_rank", …): both spellings, and the environment's LOCAL_RANK where the option is not given.
bool local_rank(Migration& migration, const Rule&, Node node, size_t change) {
  const Arguments arguments(node);
  const Node option = option_called(arguments, "--local_rank");
  if (!option || option_called(arguments, "--local-rank")) return false;
  Edits& edits = migration.rewriter.edits();
  edits.replace(option.begin(), option.end(), fmt::format("{1}, {0}--local-rank{0}", option.text()[0], option.text()),
                change);
  const Node otherwise = arguments.keyword("default"), required = arguments.keyword("required");
  if (!otherwise) {
    arguments.add(migration, "default=os.environ.get(\"LOCAL_RANK\")", change);
  } else if (otherwise.text().find("LOCAL_RANK") == std::string_view::npos) {
    const Node value = otherwise.child(Field::k_value);
    edits.wrap(value.begin(), value.end(), "os.environ.get(\"LOCAL_RANK\", ", ")", change);
  }
  if (const Node value = required ? required.child(Field::k_value) : Node(); value && value.is(k_true))
    edits.replace(value.begin(), value.end(), "\"LOCAL_RANK\" not in os.environ", change);
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
    kUse("torch-use-cuda", use_cuda), kScaler("torch-scaler-device", scaler_device),
    kRange("torch-nvtx-range", nvtx_range), kRank("torch-local-rank", local_rank);

}  // namespace
}  // namespace npu::migrate
