// SPDX-License-Identifier: Apache-2.0
#include "adapters/tensorflow/operators.h"

#include <cstring>
#include <string>

#include "adapters/tensorflow/c_api/functions.h"
#include "adapters/tensorflow/c_api/owned.h"

namespace npu::tensorflow {
namespace {

using ShapePointer = std::unique_ptr<TF_ShapeHandle, Deleter<TF_DeleteShapeHandle>>;

constexpr int64_t kStatusWords = 8;
// Attributes of collectives that reduce.
constexpr char kSummed[] = "T: {int8, int16, int32, int64, uint8, half, bfloat16, float, double}";
constexpr char kReduction[] = "reduction: {'min', 'max', 'prod', 'sum'}";

void status_shape(TF_ShapeInferenceContext* context, TF_Status* status) {
  const ShapePointer shape(TF_ShapeInferenceContextVectorFromSize(context, kStatusWords));
  TF_ShapeInferenceContextSetOutput(context, 0, shape.get(), status);
}

void no_shape(TF_ShapeInferenceContext*, TF_Status*) {}

/// That of the first input.
void same_shape(TF_ShapeInferenceContext* context, TF_Status* status) {
  const ShapePointer shape(TF_NewShapeHandle());
  TF_ShapeInferenceContextGetInput(context, 0, shape.get(), status);
  if (TF_GetCode(status) == TF_OK) TF_ShapeInferenceContextSetOutput(context, 0, shape.get(), status);
}

/// Each output's is that of the input at its place.
void same_shapes(TF_ShapeInferenceContext* context, TF_Status* status) {
  const ShapePointer shape(TF_NewShapeHandle());
  for (int i = 0; i < TF_ShapeInferenceContextNumInputs(context) && TF_GetCode(status) == TF_OK; ++i) {
    TF_ShapeInferenceContextGetInput(context, i, shape.get(), status);
    if (TF_GetCode(status) == TF_OK) TF_ShapeInferenceContextSetOutput(context, i, shape.get(), status);
  }
}

/// The host has no overflow word: infinities stay to be seen.
template <TF_DataType type>
void no_overflow(void*, TF_OpKernelContext* context) {
  Status status;
  constexpr size_t kBytes = kStatusWords * sizeof(int32_t);  // as many in float32
  const TensorPointer out(TF_AllocateOutput(context, 0, type, &kStatusWords, 1, kBytes, status));
  if (out) std::memset(TF_TensorData(out.get()), 0, kBytes);
}

void nothing(void*, TF_OpKernelContext*) {}

void declare(const Declaration& one) {
  TF_OpDefinitionBuilder* const builder = TF_NewOpDefinitionBuilder(one.name);
  for (const char* attribute : one.attributes) TF_OpDefinitionBuilderAddAttr(builder, attribute);
  for (const char* input : one.inputs) TF_OpDefinitionBuilderAddInput(builder, input);
  for (const char* output : one.outputs) TF_OpDefinitionBuilderAddOutput(builder, output);
  TF_OpDefinitionBuilderSetIsStateful(builder, one.stateful);
  TF_OpDefinitionBuilderSetShapeInferenceFunction(builder, one.shapes);
  checked(TF_RegisterOpDefinition, builder);
  if (one.on_host == nullptr) return;
  TF_KernelBuilder* const kernel = TF_NewKernelBuilder(one.name, "CPU", nullptr, one.on_host, nullptr);
  checked(TF_RegisterKernelBuilder, one.name, kernel);
}

}  // namespace

const std::vector<Declaration>& declarations() {
  static const auto& all = *new std::vector<Declaration>{
      {"NpuAllocFloatStatus", {}, {"float_status: float"}, {}, true, status_shape, no_overflow<TF_FLOAT>},
      {"NpuGetFloatStatus",
       {"input_float: float"},
       {"float_status: float"},
       {},
       true,
       status_shape,
       no_overflow<TF_FLOAT>},
      {"NpuClearFloatStatus",
       {"float_status: float"},
       {"cleared_float_status: float"},
       {},
       true,
       status_shape,
       no_overflow<TF_FLOAT>},
      {"NpuGetFloatStatusV2", {}, {"data: int32"}, {}, true, status_shape, no_overflow<TF_INT32>},
      {"NpuClearFloatStatusV2", {}, {}, {}, true, no_shape, nothing},
      {"FastGelu", {"features: T"}, {"activations: T"}, {"T: realnumbertype"}, false, same_shape, nullptr},
      {"FastGeluGrad",
       {"gradients: T", "features: T"},
       {"backprops: T"},
       {"T: realnumbertype"},
       false,
       same_shape,
       nullptr},
      {"DropOutGenMask",
       {"shape: T", "prob: S"},
       {"output: uint8"},
       {"T: {int64, int32}", "S: {float, half}", "seed: int = 0", "seed2: int = 0"},
       true,
       TF_ShapeInferenceContextSetUnknownShape,
       nullptr},
      {"DropOutDoMask",
       {"x: T", "mask: uint8", "keep_prob: T"},
       {"y: T"},
       {"T: {float16, float32}"},
       true,
       same_shape,
       nullptr},
      // Between processes. The number of ranks is an attribute, which shapes cannot be inferred from here.
      {"HcomAllReduce",
       {"x: T"},
       {"y: T"},
       {kSummed, kReduction, "group: string", "fusion: int = 1", "fusion_id: int = -1"},
       true,
       same_shape,
       nullptr},
      {"HcomAllGather",
       {"x: T"},
       {"y: T"},
       {"T: type", "rank_size: int >= 1", "group: string", "fusion: int = 0", "fusion_id: int = -1"},
       true,
       TF_ShapeInferenceContextSetUnknownShape,
       nullptr},
      {"HcomReduceScatter",
       {"x: T"},
       {"y: T"},
       {kSummed, kReduction, "rank_size: int >= 1", "group: string", "fusion: int = 0", "fusion_id: int = -1"},
       true,
       TF_ShapeInferenceContextSetUnknownShape,
       nullptr},
      {"HcomReduce",
       {"x: T"},
       {"y: T"},
       {kSummed, kReduction, "root_rank: int >= 0", "group: string", "fusion: int = 0", "fusion_id: int = -1"},
       true,
       same_shape,
       nullptr},
      {"HcomBroadcast",
       {"x: T"},
       {"y: T"},
       {"T: list(type) >= 1", "root_rank: int >= 0", "group: string", "fusion: int = 0", "fusion_id: int = -1"},
       true,
       same_shapes,
       nullptr},
      {"HcomAllToAllV",
       {"send_data: T", "send_counts: int64", "send_displacements: int64", "recv_counts: int64",
        "recv_displacements: int64"},
       {"recv_data: T"},
       {"T: type", "group: string"},
       true,
       TF_ShapeInferenceContextSetUnknownShape,
       nullptr},
      {"HcomAllToAllVC",
       {"send_data: T", "send_count_matrix: int64"},
       {"recv_data: T"},
       {"T: type", "rank: int >= 0", "group: string", "fusion: int = 0", "fusion_id: int = -1"},
       true,
       TF_ShapeInferenceContextSetUnknownShape,
       nullptr},
      {"HcomGatherAllToAllV",
       {"addrinfo: uint64", "addrinfo_count_per_rank: int64", "recv_counts: int64", "recv_displacements: int64"},
       {"recv_data: dtype", "gathered: dtype"},
       {"dtype: type", "addr_length: int", "group: string"},
       true,
       TF_ShapeInferenceContextSetUnknownShape,
       nullptr},
      {"HcomSend",
       {"x: T"},
       {},
       {"T: type", "sr_tag: int >= 0", "dest_rank: int >= 0", "group: string"},
       true,
       no_shape,
       nullptr},
      {"HcomReceive",
       {},
       {"y: T"},
       {"shape: shape", "T: type", "sr_tag: int >= 0", "src_rank: int >= 0", "group: string"},
       true,
       TF_ShapeInferenceContextSetUnknownShape,
       nullptr},
  };
  return all;
}

}  // namespace npu::tensorflow

void anynpu_tensorflow_operators(void (*visit)(const char* name), void (*refused)(const char* reason)) {
  try {
    for (const auto& one : npu::tensorflow::declarations()) {
      npu::tensorflow::declare(one);
      visit(one.name);
    }
  } catch (const std::exception& e) {
    refused(e.what());
  }
}
