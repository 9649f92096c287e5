// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>

#include "base/error.h"
#include "graph/ir/verify.h"
#include "graph/passes/pass.h"
#include "graph/passes/pipeline.h"

namespace npu::graph {

std::string variant_name(std::string_view function, std::string_view change) {
  return fmt::format("{}#{}", function, change);
}

std::string client_name(std::string_view function) { return std::string(function.substr(0, function.find('#'))); }

namespace {

constexpr const char* kMakers = "_pass_name";  // no part of what a node computes

void check_names(const std::vector<std::string>& skip) {
  for (const std::string& name : skip) {
    const auto& passes = all_passes();
    if (std::any_of(passes.begin(), passes.end(), [&](const Pass& pass) { return pass.name == name; })) continue;
    std::string names;
    for (const Pass& pass : passes) names += (names.empty() ? "" : ", ") + std::string(pass.name);
    fail(Code::kNnInvalidParam, "there is no pass {}; there are {}", name, names);
  }
}

std::vector<std::string> makers_of(const Node& node) {
  return node.attributes.get_or<std::vector<std::string>>(kMakers, {});
}

/// Fused nodes know the passes that made them and the fused nodes inside, those first.
void sign(Function& function, std::string_view pass) {
  for (Node& node : function.nodes) {
    if (!node.parts || node.removed || node.attributes.has(kMakers)) continue;
    std::vector<std::string> makers;
    for (const Node& part : node.parts->nodes)
      for (const std::string& maker : makers_of(part))
        if (std::find(makers.begin(), makers.end(), maker) == makers.end()) makers.push_back(maker);
    makers.emplace_back(pass);
    node.attributes.set(kMakers, std::move(makers));
  }
}

/// Those of `function`, and those of the functions that passes have made of others.
void sign_all(Function& function, Program& program, std::string_view pass) {
  sign(function, pass);
  for (auto& [name, other] : program.functions)
    if (name != client_name(name)) sign(*other, pass);
}

PassReport run_one(const Pass& pass, Function& function, Program& program, const PassOptions& options) {
  PassReport report{.name = pass.name, .nodes_before = function.nodes.size(), .group = pass.group};
  const auto start = std::chrono::steady_clock::now();
  if (pass.run_with_options != nullptr) {
    report.changed = pass.run_with_options(function, options, report);
  } else if (pass.run != nullptr) {
    report.changed = pass.run(function, program);
  } else {
    pass.fuse(function, program, report.fusion);
    report.changed = report.fusion.effective > 0;
    if (report.changed) sign_all(function, program, pass.name);
  }
  report.milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  report.nodes_after = function.nodes.size();
  try {
    verify(function, program);
  } catch (const Error& e) {
    fail(Code::kInternal, "pass {} broke the graph: {}; leave it out by its name and report this", pass.name,
         e.message());
  }
  return report;
}

}  // namespace

std::vector<PassReport> run_passes(Function& function, Program& program, const PassOptions& options) {
  check_names(options.skip);
  if (options.watch) options.watch("input", function);
  std::vector<PassReport> reports;
  for (const Pass& pass : all_passes()) {
    if (std::find(options.skip.begin(), options.skip.end(), pass.name) != options.skip.end()) continue;
    reports.push_back(run_one(pass, function, program, options));
    if (options.watch && reports.back().changed) options.watch(pass.name, function);
  }
  return reports;
}

}  // namespace npu::graph
