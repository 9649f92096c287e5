// SPDX-License-Identifier: Apache-2.0
#include "adapters/tensorflow/golden/operator.h"

#include <string>

#include "adapters/tensorflow/c_api/owned.h"
#include "adapters/tensorflow/golden/dump.h"

namespace npu::tensorflow::golden {
namespace {

/// Whose output a node of the operator dumps.
struct Dumped {
  std::string node;
  int64_t output = 0;
};

void* make(TF_OpKernelConstruction* construction) {
  auto dumped = std::make_unique<Dumped>();
  int64_t length = 0;
  Status status;
  TF_OpKernelConstruction_GetAttrInt64(construction, kOutputAttribute, &dumped->output, status);
  if (TF_GetCode(status) == TF_OK)
    TF_OpKernelConstruction_GetAttrInt64(construction, kLengthAttribute, &length, status);
  if (TF_GetCode(status) == TF_OK) {
    dumped->node.resize(static_cast<size_t>(length));
    TF_OpKernelConstruction_GetAttrString(construction, kNodeAttribute, dumped->node.data(), dumped->node.size(),
                                          status);
  }
  if (TF_GetCode(status) != TF_OK) TF_OpKernelConstruction_Failure(construction, status);
  return dumped.release();
}

Values values_of(TF_Tensor* tensor) {
  const std::shared_ptr<TF_Tensor> held(tensor, TF_DeleteTensor);
  Values values{TF_TensorType(tensor), {}, {held, TF_TensorData(tensor)}, TF_TensorByteSize(tensor)};
  for (int i = 0; i < TF_NumDims(tensor); ++i) values.shape.push_back(TF_Dim(tensor, i));
  return values;
}

void run(void* kernel, TF_OpKernelContext* context) {
  if (!is_on()) return;
  const auto& dumped = *static_cast<const Dumped*>(kernel);
  TF_Tensor* tensor = nullptr;
  Status status;
  TF_GetInput(context, 0, &tensor, status);
  if (tensor != nullptr) put(dumped.node, dumped.output, values_of(tensor));
}

void forget(void* kernel) { delete static_cast<Dumped*>(kernel); }

void no_shape(TF_ShapeInferenceContext*, TF_Status*) {}

}  // namespace

void declare_operator() {
  TF_OpDefinitionBuilder* const builder = TF_NewOpDefinitionBuilder(kDumpOperator);
  TF_OpDefinitionBuilderAddInput(builder, "input: T");
  for (const char* attribute : {"T: type", "node: string", "node_length: int", "index: int"})
    TF_OpDefinitionBuilderAddAttr(builder, attribute);
  TF_OpDefinitionBuilderSetIsStateful(builder, true);
  TF_OpDefinitionBuilderSetShapeInferenceFunction(builder, no_shape);
  checked(TF_RegisterOpDefinition, builder);
  checked(TF_RegisterKernelBuilder, kDumpOperator, TF_NewKernelBuilder(kDumpOperator, "CPU", make, run, forget));
}

}  // namespace npu::tensorflow::golden
