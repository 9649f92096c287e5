// SPDX-License-Identifier: Apache-2.0
// anynpu/registry.h and anynpu/settings.h: the registries, shown to tools.
#include "anynpu/registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <string>

#include "acl/aclnn/row.h"
#include "acl/unsupported.h"
#include "anynpu/settings.h"
#include "base/setting.h"
#include "ops/cube/choices.h"
#include "ops/operator.h"

namespace npu::acl {
namespace {

struct ClientVariable {
  const char *variable, *effect, *sentence;
};

constexpr ClientVariable kClientVariables[] = {
#include "environment.inc"
};

std::string_view name_of(ops::FieldRole role) {
  switch (role) {
    case ops::FieldRole::kIn: return "in";
    case ops::FieldRole::kOptional: return "optional";
    case ops::FieldRole::kOut: return "out";
    case ops::FieldRole::kOptionalOut: return "optional_out";
    case ops::FieldRole::kInOut: return "inout";
    case ops::FieldRole::kAttr: return "attr";
  }
  return "";
}

std::string fields_text(const ops::OperatorDef& def) {
  std::string out;
  for (const ops::Field& field : def.fields)
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", name_of(field.role), field.name);
  return out;
}

// Keeps what the header promises to keep for ever.
const char* keep(std::string text) {
  static std::mutex& mutex = *new std::mutex;
  static auto& kept = *new std::map<std::string, bool>;
  std::lock_guard lock(mutex);
  return kept.try_emplace(std::move(text)).first->first.c_str();
}

void show(const ops::OperatorDef& def, void (*visit)(const anynpu_operator*, void*), void* context) {
  const anynpu_operator out{sizeof(out), keep(std::string(def.name)), keep(std::string(def.family)),
                            keep(fields_text(def)), keep(ops::to_string(def.traits))};
  visit(&out, context);
}

void show(const Row& row, void (*visit)(const anynpu_function*, void*), void* context) {
  const anynpu_function out{sizeof(out),       row.name,      row.family,
                            row.operator_name, row.arguments, keep(row.plan().problem)};
  visit(&out, context);
}

void show(const SettingInfo& info, void (*visit)(const anynpu_setting*, void*), void* context) {
  const std::string variable(info.variable);
  const std::string type(info.type);
  const std::string sentence(info.sentence);
  const std::string in_force = setting_text(info.variable);
  const anynpu_setting out{sizeof(out),      variable.c_str(), type.c_str(), info.default_text.c_str(),
                           in_force.c_str(), sentence.c_str()};
  visit(&out, context);
}

const char* name_of(ops::cube::Work work) {
  switch (work) {
    case ops::cube::Work::kConvForward: return "convolution";
    case ops::cube::Work::kConvBackwardWeights: return "gradient of weights";
    default: return "product";
  }
}

void show(const ops::cube::Choices& row, void (*visit)(const anynpu_choice*, void*), void* context) {
  static_assert(ops::cube::kFirstSize == 13, "registry.h says so");
  const bool product = row.work == ops::cube::Work::kProduct;
  const char* variant = product ? (row.variant ? "right operand by columns" : "right operand by rows")
                                : (row.variant ? "stride above 1" : "stride 1");
  const std::string shapes = fmt::format("from {} {} on", row.least_rows, product ? "rows" : "output pixels");
  const std::string ways(row.ways), dtype(npu::name_of(row.dtype));
  const anynpu_choice out{
      sizeof(out), ops::cube::name_of(row.cpu), name_of(row.work), dtype.c_str(), variant, shapes.c_str(),
      ways.c_str()};
  visit(&out, context);
}

bool is_listed(std::string_view variable) {
  return find_setting(variable) != nullptr ||
         std::any_of(std::begin(kClientVariables), std::end(kClientVariables),
                     [&](const ClientVariable& one) { return one.variable == variable; });
}

}  // namespace
}  // namespace npu::acl

using namespace npu::acl;  // NOLINT(google-build-using-namespace): the C functions are thin

extern "C" {

const char* anynpu_version(void) { return ANYNPU_VERSION; }

void anynpu_each_operator(void (*visit)(const anynpu_operator* op, void* context), void* context) {
  for (const npu::ops::OperatorDef* def : npu::ops::all_operators()) show(*def, visit, context);
}

void anynpu_each_function(void (*visit)(const anynpu_function* function, void* context), void* context) {
  std::vector<const Row*> rows = all_rows();
  std::sort(rows.begin(), rows.end(), [](auto* a, auto* b) { return std::string_view(a->name) < b->name; });
  for (const Row* row : rows) show(*row, visit, context);
}

void anynpu_each_unfinished(void (*visit)(const anynpu_unfinished* entry, void* context), void* context) {
  for (const UnsupportedFeature& entry : unsupported_features()) {
    const anynpu_unfinished out{sizeof(out), entry.name, entry.feature, entry.text};
    visit(&out, context);
  }
}

void anynpu_each_choice(void (*visit)(const anynpu_choice* choice, void* context), void* context) {
  for (const npu::ops::cube::Choices& row : npu::ops::cube::choices()) show(row, visit, context);
}

void anynpu_each_setting(void (*visit)(const anynpu_setting* setting, void* context), void* context) {
  for (const npu::SettingInfo& info : npu::settings()) show(info, visit, context);
}

void anynpu_each_client_variable(void (*visit)(const anynpu_client_variable* variable, void* context), void* context) {
  for (const ClientVariable& row : kClientVariables) {
    const anynpu_client_variable out{sizeof(out), row.variable, std::string_view(row.effect) == "acts", row.sentence};
    visit(&out, context);
  }
}

const char* anynpu_setting_in_force(const char* variable) {
  return is_listed(variable) ? keep(npu::setting_text(variable)) : nullptr;
}

}  // extern "C"
