// SPDX-License-Identifier: Apache-2.0
#include "ops/operator.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <string>
#include <unordered_map>

namespace npu::ops {
namespace {

struct Registry {
  // A deque: definitions are pointed to, and must not move while others register.
  std::deque<OperatorDef> defs;
  std::unordered_map<std::string_view, const OperatorDef*> by_name;
};

// Filled while static initialisers run, in any order; never destroyed.
Registry& registry() {
  static Registry& instance = *new Registry;
  return instance;
}

}  // namespace

Registration::Registration(std::string_view name, std::string_view family, std::vector<Field> fields,
                           std::unique_ptr<Operator> (*create)(const OperatorDef&), const void* data)
    : def_(registry().defs.emplace_back(OperatorDef{name, family, std::move(fields), create, data})) {
  // Having the fields of ChainAfter is what the trait means, so nobody declares it twice.
  if (def_.field("chain") != nullptr) is(kTakesChain);
  if (registry().by_name.emplace(name, &def_).second) return;
  std::fprintf(stderr, "operator %s is registered twice\n", std::string(name).c_str());
  // Static initialisers have nobody to catch an error, and either of two operators would be the wrong one.
  std::abort();
}

Registration& Registration::is(Traits traits) {
  def_.traits |= traits;
  return *this;
}

std::string to_string(Traits traits) {
  static constexpr std::string_view kNames[] = {"moves_bits", "casts", "pointwise", "takes_chain", "images"};
  std::string out;
  for (size_t i = 0; i < std::size(kTraits); ++i)
    if ((traits & kTraits[i]) != 0) out.append(out.empty() ? "" : " ").append(kNames[i]);
  return out;
}

const Field* OperatorDef::field(std::string_view field_name) const {
  const auto at = std::find_if(fields.begin(), fields.end(), [&](const Field& f) { return f.name == field_name; });
  return at == fields.end() ? nullptr : &*at;
}

const OperatorDef* find_operator(std::string_view name) {
  const auto& map = registry().by_name;
  const auto at = map.find(name);
  return at == map.end() ? nullptr : at->second;
}

std::vector<const OperatorDef*> all_operators() {
  std::vector<const OperatorDef*> out;
  for (const OperatorDef& def : registry().defs) out.push_back(&def);
  // By name: the order of static initialisers is the linker's.
  std::sort(out.begin(), out.end(), [](auto* a, auto* b) { return a->name < b->name; });
  return out;
}

std::unique_ptr<Operator> create(const OperatorDef& def) {
  std::unique_ptr<Operator> op = def.create(def);
  op->def = &def;
  return op;
}

}  // namespace npu::ops
