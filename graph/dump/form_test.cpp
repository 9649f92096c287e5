// SPDX-License-Identifier: Apache-2.0
#include "graph/dump/form.h"

#include <gtest/gtest.h>

#include "graph/graph_fixture.h"
#include "graph/passes/pass.h"

namespace npu::graph {
namespace {

const ValueType kFloats = ValueType::tensor(DType::kFloat);

/// y = sum(x @ w), x of unknown rows, after a node with a hostile name.
struct Sample {
  Sample() : f("f") {
    const Edge x = f.argument("x");
    const Edge w = f.constant<float>({2, 1}, {1, 2});
    const Edge product = f.node("MatMul", {x, w});
    f.with(product, "transpose_a", false).with(product, "_private", std::string("no"));
    const Edge strange = f.node("NoOp", {}, kFloats, 0);
    (*f.function())[strange.node].name = "a \"quoted\"\n\\name\xc3";
    const Edge sum = f.node("Sum", {product, f.constant<int32_t>({1}, {0})}, kFloats, 1, {strange.node});
    f.with(sum, "f", FunctionName{"inner"}).result(sum);
    TestFunction inner("inner");
    inner.result(inner.node("Relu", {inner.argument("v")}));
    program.add(f.function());
    program.add(inner.function());
    (*f.function())[x.node].outputs[0].shape.dims = Dims{kUnknownDim, 2};
  }
  const Function& function() const { return *f.function(); }
  TestFunction f;
  Program program;
};

bool holds(const std::string& text, std::string_view part) { return text.find(part) != text.npos; }

TEST(DumpForm, GraphDefHoldsAllNodes) {
  const std::string text = to_graph_def(Sample().function());
  EXPECT_TRUE(holds(text, "op: \"_Arg\"\n  attr {\n    key: \"T\"\n    value {\n      type: DT_FLOAT"));
  EXPECT_TRUE(holds(text, "op: \"_Retval\"\n  input: \"n_Sum\""));
  EXPECT_TRUE(holds(text, "name: \"a \\\"quoted\\\"\\012\\\\name\\303\""));
  EXPECT_TRUE(holds(text, "input: \"^a \\\"quoted\\\""));
  EXPECT_TRUE(holds(text, "tensor_content: \"\\000\\000\\200?\\000\\000\\000@\""));
  EXPECT_TRUE(holds(text, "func {\n        name: \"inner\""));
}

TEST(DumpForm, GeTextUsesTheVendorsNamesAndHoldsSubgraphs) {
  const Sample sample;
  const std::string text = to_ge_text(sample.function(), sample.program, Content::kAll);
  EXPECT_TRUE(text.starts_with("name: \"f\"\nversion: 1\ngraph {\n  name: \"f\"\n  input: \"x:0\"\n"));
  EXPECT_TRUE(holds(text, "type: \"MatMulV2\"\n    input: \"x:0\"\n    input: \"constant:0\""));
  EXPECT_TRUE(holds(text, "type: \"ReduceSum\"")) << text;
  EXPECT_TRUE(holds(text, "\\303:-1\""));
  EXPECT_TRUE(holds(text, "type: \"NetOutput\""));
  EXPECT_TRUE(holds(text, "subgraph_name: \"inner\""));
  EXPECT_TRUE(holds(text, "graph {\n  name: \"inner\""));
  EXPECT_TRUE(holds(text, "s: \"MatMul\"")) << "the framework's own name";
  EXPECT_TRUE(holds(text, "dim: -1\n        dim: 2")) << "unknown until the call";
  EXPECT_FALSE(holds(text, "_private"));
}

TEST(DumpForm, GeTextListsTheReadersOfEachOutput) {
  TestFunction f("f");
  const Edge x = f.argument("x"), scale = f.constant<float>({}, {2});
  const Edge product = f.node("Mul", {x, scale}), last = f.node("Add", {x, product});
  const Edge strange = f.node("NoOp", {}, kFloats, 0, {product.node});
  f.result(last).result(product).must_run(strange);
  const Program program;
  const std::string text = to_ge_text(*f.function(), program, Content::kStructure);
  EXPECT_TRUE(holds(text, "type: \"Data\"\n    dst_name: \"n_Mul:n_Add\"\n    dst_index: 0\n")) << text;
  EXPECT_TRUE(
      holds(text, "dst_name: \"n_Add:Node_Output\"\n    dst_name: \"n_NoOp\"\n    dst_index: 1\n    dst_index: -1\n"))
      << text;
  const std::string whole = to_ge_text(*f.function(), program, Content::kAll);
  EXPECT_FALSE(holds(whole, "shape {\n      }")) << "a scalar has no shape";
}

TEST(DumpForm, GeTextTellsThePassesOfAFusedNode) {
  TestFunction f("fused");
  const Edge x = f.argument("x"), w = f.argument("w"), product = f.node("MatMul", {x, w});
  f.with(product, "transpose_a", false).with(product, "transpose_b", false);
  f.result(f.node("Exp", {f.node("Neg", {product})}));
  Program program;
  Function made = *f.function();
  run_passes(made, program);
  const std::string text = to_ge_text(made, program, Content::kAll);
  EXPECT_TRUE(holds(text,
                    "key: \"pass_name\"\n      value {\n        list {\n          s: \"elementwise\"\n          s: "
                    "\"matmul_epilogue\"\n"))
      << text;
}

TEST(DumpForm, ContentShrinksByLevel) {
  const Sample sample;
  const auto ge = [&](Content content) { return to_ge_text(sample.function(), sample.program, content); };
  const auto onnx = [&](Content content) { return to_onnx_text(sample.function(), content); };
  EXPECT_TRUE(holds(ge(Content::kAll), "data: ") && holds(onnx(Content::kAll), "raw_data: "));
  EXPECT_FALSE(holds(ge(Content::kNoWeights), "data: ") || holds(onnx(Content::kNoWeights), "raw_data: "));
  EXPECT_TRUE(holds(ge(Content::kNoWeights), "attr {") && holds(onnx(Content::kNoWeights), "attribute {"));
  EXPECT_FALSE(holds(ge(Content::kStructure), "attr {") || holds(ge(Content::kStructure), "_desc"));
  EXPECT_FALSE(holds(onnx(Content::kStructure), "attribute {") || holds(onnx(Content::kStructure), "tensor_type"));
  for (const std::string& text : {ge(Content::kStructure), onnx(Content::kStructure)})
    EXPECT_TRUE(holds(text, "MatMulV2") && holds(text, "n_MatMul:0"));
}

}  // namespace
}  // namespace npu::graph
