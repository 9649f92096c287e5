// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>

#include "base/error.h"
#include "graph/ir/verify.h"
#include "graph/passes/pass.h"

namespace npu::graph {

const std::vector<Pass>& all_passes() {
  static const std::vector<Pass> passes = {
      {"dead_nodes", "Drops nodes on which no result depends.", drop_dead_nodes},
      {"inline", "Puts the nodes of called functions in the place of the calls.", inline_calls},
      {.name = "precision",
       .purpose = "Chooses in which dtype nodes compute, as precision_mode and its lists and rules say.",
       .run_with_options = set_precision},
      {"merge_reads", "Reads a variable once where nothing is written to it in between.", merge_reads},
      {"merge_equal", "Computes equal nodes once.", merge_equal_nodes},
      {"dead_nodes_again", "Drops what the passes before left without use.", drop_dead_nodes},
      {.name = "trim_loops",
       .purpose = "Loops do not compute what nobody reads.",
       .group = FusionGroup::kGraph,
       .fuse = trim_loops},
      {.name = "loop_inputs",
       .purpose = "Products of a loop with the elements of a list are computed for many elements at once.",
       .group = FusionGroup::kGraph,
       .fuse = take_inputs_out_of_loops},
      {.name = "loop_sums",
       .purpose = "Products that every turn of a loop adds to a variable are added up many at once.",
       .group = FusionGroup::kGraph,
       .fuse = take_sums_out_of_loops},
      {.name = "variable_update",
       .purpose = "An optimizer written as primitives updates all its variables in one node, in place.",
       .group = FusionGroup::kGraph,
       .fuse = fuse_variable_updates,
       .aliases = {"adam_apply_one", "adam_apply_one_with_decay", "AdamApplyOneFusionPass",
                   "AdamApplyOneWithDecayFusionPass", "A_MomentumLossscaleFusionPass", "MulAddNL2LossFusionPass"}},
      {.name = "attention",
       .purpose = "Attention (products, scaling, bias and softmax) as one node that keeps no scores, and its gradient.",
       .group = FusionGroup::kGraph,
       .fuse = fuse_attention,
       .aliases = {"SoftmaxGradExtFusion"}},
      {.name = "layer_norm",
       .purpose = "Layer normalisation and its gradient, which Keras writes as batch normalisation, as one node each.",
       .group = FusionGroup::kGraph,
       .fuse = fuse_layer_norm,
       .aliases = {"LayerNormFusionPass", "LayerNormGradFusionPass", "ScopeLayerNormPass"}},
      {.name = "recompute",
       .purpose = "Gradients compute cheap functions of one value again, where else several of them would be kept.",
       .group = FusionGroup::kGraph,
       .fuse = recompute_for_gradients},
      {.name = "elementwise",
       .purpose = "Element-wise nodes that feed each other go over their elements once.",
       .group = FusionGroup::kBuffer,
       .fuse = fuse_elementwise,
       .aliases = {"TbeEltwiseFusionPass", "TbeMultiOutputFusionPass", "MulAddFusionPass", "MulAddNFusionPass",
                   "ReluFusionPass", "DreluFusionPass"}},
      {.name = "matmul_epilogue",
       .purpose = "Matrix products write what biases, activations and sums make of their results.",
       .group = FusionGroup::kBuffer,
       .fuse = fuse_matmul_epilogues,
       .aliases = {"MatMulBiasAddFusionPass", "ATbeMatMulElemwiseFusionPass", "ATbeMatmulElemwiseFusionPass",
                   "TbeBatchMatmulElementWiseFusionPass"}},
      {.name = "conv_epilogue",
       .purpose = "Convolutions and their gradients write what element-wise nodes make of their results.",
       .group = FusionGroup::kBuffer,
       .fuse = fuse_conv_epilogues,
       .aliases = {"AABiasaddConvFusion", "TbeConvDoubleInFusionPass", "TbeConv2DBackpropElemwiseFusionPass",
                   "TbeDxElemwisePass"}},
  };
  return passes;
}

std::string variant_name(std::string_view function, std::string_view change) {
  return fmt::format("{}#{}", function, change);
}

std::string client_name(std::string_view function) { return std::string(function.substr(0, function.find('#'))); }

namespace {

void check_names(const std::vector<std::string>& skip) {
  for (const std::string& name : skip) {
    const auto& passes = all_passes();
    if (std::any_of(passes.begin(), passes.end(), [&](const Pass& pass) { return pass.name == name; })) continue;
    std::string names;
    for (const Pass& pass : passes) names += (names.empty() ? "" : ", ") + std::string(pass.name);
    fail(Code::kNnInvalidParam, "there is no pass {}; there are {}", name, names);
  }
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
