// SPDX-License-Identifier: Apache-2.0
// lr= of Keras optimizers where it is no keyword of their call: Keras 2.15 takes it with a warning and trains with its
// default rate.
#include <algorithm>

#include "tools/migrate/migration/argument.h"
#include "tools/migrate/migration/code.h"

namespace npu::migrate {
namespace {

using enum Kind;

constexpr std::string_view kOptimizers = "tensorflow.keras.optimizers.";

/// functools.partial(Adam, lr=0.1).
bool partial_rate(Migration& migration, const Rule&, Node call, size_t change) {
  const Arguments arguments(call);
  const Node keyword = arguments.keyword("lr"), function = arguments.at(0);
  if (!keyword || !function) return false;
  const std::string made = migration.script.names().sure_name(function);
  if (!made.starts_with(kOptimizers) || made.find("legacy") != made.npos) return false;
  const Node name = keyword.child(Field::k_name);
  migration.rewriter.edits().replace(name.begin(), name.end(), "learning_rate", change);
  return true;
}

/// {"lr": 0.1}, dict(lr=0.1).
bool literal_has_rate(Node value) {
  if (!value) return false;
  const Node called = value.child(Field::k_function);
  if (value.is(k_call) && called && called.text() == "dict") return bool(Arguments(value).keyword("lr"));
  if (!value.is(k_dictionary)) return false;
  return std::ranges::any_of(value.named(), [](Node pair) {
    const Node name = pair.child(Field::k_key);
    const std::string_view key = name ? name.text() : "";
    return key == "'lr'" || key == "\"lr\"";
  });
}

/// The same, or a variable that may hold it.
bool may_have_rate(Migration& migration, Node value) {
  if (!value.is(k_identifier)) return literal_has_rate(value);
  return std::ranges::any_of(migration.script.names().table().reaching(value.text(), value),
                             [](const Binding* binding) { return literal_has_rate(binding->value); });
}

/// Adam(**options), Adam.from_config(options): the rate is to be called otherwise where the options are made.
bool rate_in_options(Migration& migration, const Rule& rule, Node call, size_t) {
  const Node list = Arguments(call).list();
  if (!list.is(k_argument_list)) return false;
  for (const Node each : list.named()) {
    const bool spread = each.is(k_dictionary_splat) && !each.named().empty();
    if (!each.is(k_keyword_argument) && may_have_rate(migration, spread ? each.named()[0] : each))
      migration.ledger.note(rule, call, "manual",
                            "write learning_rate in the place of lr where these options are made: the optimizer takes "
                            "lr with a warning and trains with its default rate");
  }
  return false;
}

const CodeEntry partial("partial_rate", partial_rate), options("rate_in_options", rate_in_options);

}  // namespace
}  // namespace npu::migrate
