// SPDX-License-Identifier: Apache-2.0
// All passes. A new one is declared and put in its place here, and nowhere else.
#pragma once

#include <vector>

#include "graph/passes/pass.h"

namespace npu::graph {

// One file each.
bool inline_calls(Function& function, const Program& program);
bool drop_dead_nodes(Function& function, const Program& program);
bool merge_equal_nodes(Function& function, const Program& program);
bool merge_reads(Function& function, const Program& program);
void fuse_variable_updates(Function& function, Program& program, FusionCount& count);
void fuse_attention(Function& function, Program& program, FusionCount& count);
void fuse_layer_norm(Function& function, Program& program, FusionCount& count);
void fuse_written_layer_norm(Function& function, Program& program, FusionCount& count);
void fuse_elementwise(Function& function, Program& program, FusionCount& count);
void recompute_for_gradients(Function& function, Program& program, FusionCount& count);
void fuse_matmul_epilogues(Function& function, Program& program, FusionCount& count);
void fuse_conv_epilogues(Function& function, Program& program, FusionCount& count);
void trim_loops(Function& function, Program& program, FusionCount& count);
void take_inputs_out_of_loops(Function& function, Program& program, FusionCount& count);
void take_sums_out_of_loops(Function& function, Program& program, FusionCount& count);
void fuse_collectives(Function& function, Program& program, FusionCount& count);
bool set_precision(Function& function, const PassOptions& options, PassReport& report);

/// All of them, in the order in which they run.
inline const std::vector<Pass>& all_passes() {
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
      {.name = "written_layer_norm",
       .purpose = "Layer normalisation that stands there as what it consists of (ONNX before opset 17) as one node.",
       .group = FusionGroup::kGraph,
       .fuse = fuse_written_layer_norm,
       .aliases = {"LayerNormFusionPass", "ScopeLayerNormPass"}},
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
      {.name = "collectives",
       .purpose = "Sums of gradients over the ranks of a group go in segments, broadcasts and reductions together.",
       .group = FusionGroup::kGraph,
       .fuse = fuse_collectives,
       .aliases = {"HcomAllReduceFusionPass", "HcomBroadcastFusionPass", "HcomReduceFusionPass"}},
  };
  return passes;
}

}  // namespace npu::graph
