// SPDX-License-Identifier: Apache-2.0
#include "graph/dump/kernel_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "base/split.h"
#include "graph/cache/key.h"
#include "graph/model/function_file.h"
#include "graph/plan/binding.h"
#include "ops/runner/observer.h"

namespace npu::graph {
namespace {

constexpr int kMostPlans = 32;        // of one function: where sizes change with each step, more would fill the disk
constexpr size_t kLongestName = 180;  // of a file: systems take 255 bytes, number and ending included

std::string stem_of(std::string_view function, int number) {
  std::string out;
  for (const char c : function.substr(0, kLongestName)) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    out.push_back(plain ? c : '_');
  }
  return fmt::format("{}_{}", out, number);
}

std::string dump(const OrderedJson& json) { return json.dump(1, InvalidUtf8::kReplace) + "\n"; }

OrderedJson shape_of(const Planned& planned) {
  if (planned.dynamic || !planned.type.is_tensor()) return nullptr;
  OrderedJson out = OrderedJson::array();
  for (const int64_t size : planned.shape()) out.push_back(size);
  return out;
}

OrderedJson json_of(const Planned& planned) {
  return {{"slot", planned.slot}, {"dtype", to_string(planned.type)}, {"shape", shape_of(planned)}};
}

std::string text_of(const Planned& planned) {
  const std::string dtype = to_string(planned.type);
  const std::string shape = planned.dynamic             ? "?"
                            : !planned.type.is_tensor() ? ""
                                                        : to_string(PartialShape{planned.shape()});
  return fmt::format("s{} {}{}", planned.slot, dtype, shape);
}

std::string_view role_of(ops::FieldRole role) {
  switch (role) {
    case ops::FieldRole::kOut:
    case ops::FieldRole::kOptionalOut: return "out";
    case ops::FieldRole::kInOut: return "inout";
    default: return "in";
  }
}

OrderedJson json_of(const Step& step) {
  OrderedJson out{{"node", step.node->name}, {"type", step.node->op}};
  if (step.def == nullptr) {
    out["kernel"] = nullptr;  // work on values: a variable is read, a body runs, the client runs the node
    return out;
  }
  out["kernel"] = step.def->name;
  for (const TensorField& field : step.tensors)
    for (const Planned& planned : field.values) {
      OrderedJson tensor{{"field", field.field->name}, {"role", role_of(field.field->role)}};
      tensor.update(json_of(planned));
      out["tensors"].push_back(std::move(tensor));
    }
  const auto op = make_operator(step);
  for (const auto& [name, value] : ops::parameters_of(*op)) out["attributes"][name] = value;
  return out;
}

std::string text_of(const Step& step) {
  std::string out =
      step.def == nullptr ? fmt::format("{} (no kernel: work on values)", step.node->op) : std::string(step.def->name);
  for (const TensorField& field : step.tensors)
    for (const Planned& planned : field.values) out += fmt::format(" {}={}", field.field->name, text_of(planned));
  if (step.def != nullptr) {
    const auto op = make_operator(step);
    for (const auto& [name, value] : ops::parameters_of(*op)) out += fmt::format(" {}={}", name, value);
  }
  return out + fmt::format("  \"{}\"\n", step.node->name);
}

/// The lines before the first step.
std::string head_of(const Plan& plan) {
  std::string out = fmt::format(
      "// The plan of function {}: what is compiled here, in the place of the source of a kernel.\n"
      "// {} bytes of memory in {} slots. A line a step: kernel, tensors with the slot they are in, attributes, "
      "node.\n",
      plan.function, plan.arena_bytes, plan.slots.size());
  for (const Planned& argument : plan.arguments) out += fmt::format("// argument {}\n", text_of(argument));
  return out;
}

std::string text_of(const Plan& plan) {
  std::string out = head_of(plan);
  for (const Step& step : plan.steps) out += text_of(step);
  for (const Planned& result : plan.results) out += fmt::format("// result {}\n", text_of(result));
  if (plan.rest)
    out += fmt::format("// {} nodes are planned when the run has told their shapes\n", plan.rest->nodes.size());
  return out;
}

OrderedJson description_of(const std::string& stem, const PlanMade& made) {
  const Plan& plan = made.plan;
  OrderedJson out{
      {"kernelName", stem}, {"binFileName", stem}, {"binFileSuffix", ".o"}, {"function", made.function.name}};
  out["compile_ms"] = made.milliseconds;
  out["memory_bytes"] = plan.arena_bytes;
  out["host_nodes"] = plan.host_nodes;
  for (const char* list : {"arguments", "results", "steps"}) out[list] = OrderedJson::array();
  for (const Planned& argument : plan.arguments) out["arguments"].push_back(json_of(argument));
  for (const Planned& result : plan.results) out["results"].push_back(json_of(result));
  for (const Step& step : plan.steps) out["steps"].push_back(json_of(step));
  return out;
}

OrderedJson place_of(const Node& node) {
  OrderedJson out{
      {"node", node.name}, {"type", node.op}, {"client_name", node.client_name}, {"functions", node.functions}};
  if (!node.parts) return out;
  for (const Node* part : origins(node)) out["origins"].push_back({{"name", part->client_name}, {"type", part->op}});
  return out;
}

OrderedJson places_of(const Plan& plan) {
  const std::string head = head_of(plan);
  auto line = static_cast<int64_t>(std::count(head.begin(), head.end(), '\n'));
  OrderedJson out = OrderedJson::array();
  for (const Step& step : plan.steps) {
    OrderedJson place{{"line", ++line}};
    place.update(place_of(*step.node));
    out.push_back(std::move(place));
  }
  return out;
}

OrderedJson fused_of(const Plan& plan) {
  OrderedJson out = OrderedJson::array();
  for (const PlannedNode& planned : plan.nodes) {
    if (!planned.node->parts) continue;
    OrderedJson one{{"node", planned.node->name}, {"type", planned.node->op}};
    for (const auto& [name, list] : {std::pair{"inputs", &planned.inputs}, std::pair{"outputs", &planned.outputs}})
      for (const Planned& tensor : *list) one[name].push_back(json_of(tensor));
    for (const Node* part : origins(*planned.node))
      one["op_list"].push_back({{"name", part->client_name}, {"type", part->op}});
    out.push_back(std::move(one));
  }
  return out;
}

std::string container_of(const PlanMade& made) {
  model::FunctionWriter writer;
  writer.add(made.function);
  for (const auto& called : cache::reached_from(made.function, made.program())) writer.add(*called);
  return model::to_container(writer.sections());
}

}  // namespace

KernelFileKinds kernel_file_kinds(std::string_view words) {
  KernelFileKinds out;
  for (const std::string_view word : split(words, ",")) {
    if (word == "o")
      out.container = true;
    else if (word == "json")
      out.description = true;
    else if (word == "cce")
      out.text = true;
    else if (word == "loc")
      out.places = true;
    else if (word == "compute")
      out.fused = true;
    else
      fail(Code::kNnInvalidParam, "there are no files of kind {}; there are o, json, cce, loc, compute", word);
  }
  return out;
}

void KernelFiles::write(const std::string& name, const std::string& text) {
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  std::ofstream out(folder_ / name, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  if (out || std::exchange(told_, true)) return;
  fmt::print(stderr, "anynpu: {} cannot be written; set debug_dir to a folder with room that can be written\n",
             (folder_ / name).string());
}

void KernelFiles::planned(const PlanMade& made) {
  const std::lock_guard lock(mutex_);
  if (made.role == Role::kOperator || plans_[made.function.name] == kMostPlans) return;
  const std::string stem = stem_of(made.function.name, ++plans_[made.function.name]);
  if (kinds_.container) write(stem + ".o", container_of(made));
  if (kinds_.description) write(stem + ".json", dump(description_of(stem, made)));
  if (kinds_.text) write(stem + ".cce", text_of(made.plan));
  if (kinds_.places) write(stem + "_loc.json", dump(places_of(made.plan)));
  if (kinds_.fused) write(stem + "_compute.json", dump(fused_of(made.plan)));
}

}  // namespace npu::graph
