// SPDX-License-Identifier: Apache-2.0
// The part of TensorFlow's C API that the adapter uses, declared by ourselves so that it builds without TensorFlow; a
// test compares each line with the installed headers. The functions come from libtensorflow_cc.so.2 of the process.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

struct TF_Status;
struct TF_Tensor;
struct TFE_Context;
struct TFE_Op;
struct TFE_OpAttrs;
struct TFE_TensorHandle;
struct TFE_Executor;
struct TF_OpDefinitionBuilder;
struct TF_ShapeInferenceContext;
struct TF_ShapeHandle;
struct TF_KernelBuilder;
struct TF_OpKernelConstruction;
struct TF_OpKernelContext;

enum TF_Code {
  TF_OK = 0,
  TF_CANCELLED = 1,
  TF_UNKNOWN = 2,
  TF_INVALID_ARGUMENT = 3,
  TF_DEADLINE_EXCEEDED = 4,
  TF_RESOURCE_EXHAUSTED = 8,
  TF_FAILED_PRECONDITION = 9,
  TF_OUT_OF_RANGE = 11,
  TF_UNIMPLEMENTED = 12,
  TF_INTERNAL = 13,
};

enum TF_DataType {
  TF_FLOAT = 1,
  TF_DOUBLE = 2,
  TF_INT32 = 3,
  TF_UINT8 = 4,
  TF_INT16 = 5,
  TF_INT8 = 6,
  TF_STRING = 7,
  TF_COMPLEX64 = 8,
  TF_INT64 = 9,
  TF_BOOL = 10,
  TF_QINT8 = 11,
  TF_QUINT8 = 12,
  TF_QINT32 = 13,
  TF_BFLOAT16 = 14,
  TF_QINT16 = 15,
  TF_QUINT16 = 16,
  TF_UINT16 = 17,
  TF_COMPLEX128 = 18,
  TF_HALF = 19,
  TF_RESOURCE = 20,
  TF_VARIANT = 21,
  TF_UINT32 = 22,
  TF_UINT64 = 23,
};

struct TF_Buffer {
  const void* data;
  size_t length;
  void (*data_deallocator)(void* data, size_t length);
};

struct TF_TString {
  alignas(8) unsigned char opaque[24];
};

constexpr int TFE_CUSTOM_DEVICE_VERSION = 4;

struct TFE_CustomDevice {
  int version = TFE_CUSTOM_DEVICE_VERSION;
  TFE_TensorHandle* (*copy_tensor_to_device)(TFE_Context*, TFE_TensorHandle*, TF_Status*, void*);
  TFE_TensorHandle* (*copy_tensor_from_device)(TFE_Context*, TFE_TensorHandle*, const char*, TF_Status*, void*);
  void (*execute)(const TFE_Op*, int*, TFE_TensorHandle**, TF_Status*, void*);
  void (*delete_device)(void*);
  TFE_TensorHandle* (*pack)(TFE_Context*, TFE_TensorHandle**, int, TF_Status*, void*) = nullptr;
  bool (*shall_pin_to_this_device)(const TFE_Op*, TF_Status*) = nullptr;
};

struct TFE_CustomDeviceTensorHandle {
  int version = TFE_CUSTOM_DEVICE_VERSION;
  int (*num_dims)(void*, TF_Status*);
  int64_t (*dim)(void*, int, TF_Status*);
  void (*deallocator)(void*);
  TF_Buffer* (*summarize)(void*, TF_Status*) = nullptr;
};

TF_Status* TF_NewStatus(void);
void TF_DeleteStatus(TF_Status*);
void TF_SetStatus(TF_Status*, TF_Code, const char*);
TF_Code TF_GetCode(const TF_Status*);
const char* TF_Message(const TF_Status*);
TF_Buffer* TF_NewBuffer(void);
void TF_DeleteBuffer(TF_Buffer*);
TF_Buffer* TF_GetAllOpList(void);
TF_Tensor* TF_NewTensor(TF_DataType, const int64_t*, int, void*, size_t, void (*)(void*, size_t, void*), void*);
TF_Tensor* TF_AllocateTensor(TF_DataType, const int64_t*, int, size_t);
void TF_DeleteTensor(TF_Tensor*);
TF_DataType TF_TensorType(const TF_Tensor*);
int TF_NumDims(const TF_Tensor*);
int64_t TF_Dim(const TF_Tensor*, int);
size_t TF_TensorByteSize(const TF_Tensor*);
void* TF_TensorData(const TF_Tensor*);
void TF_StringInit(TF_TString*);
void TF_StringCopy(TF_TString*, const char*, size_t);
const char* TF_StringGetDataPointer(const TF_TString*);
size_t TF_StringGetSize(const TF_TString*);
TFE_Context* TFE_OpGetContext(const TFE_Op*, TF_Status*);
const char* TFE_OpGetName(const TFE_Op*, TF_Status*);
int TFE_OpGetFlatInputCount(const TFE_Op*, TF_Status*);
TFE_TensorHandle* TFE_OpGetFlatInput(const TFE_Op*, int, TF_Status*);
const TFE_OpAttrs* TFE_OpGetAttrs(const TFE_Op*);
void TFE_OpAttrsSerialize(const TFE_OpAttrs*, TF_Buffer*, TF_Status*);
TFE_Op* TFE_NewOp(TFE_Context*, const char*, TF_Status*);
void TFE_DeleteOp(TFE_Op*);
void TFE_OpSetDevice(TFE_Op*, const char*, TF_Status*);
void TFE_OpAddAttrs(TFE_Op*, const TFE_OpAttrs*);
void TFE_OpSetAttrValueProto(const TFE_Op*, const char*, const void*, size_t, TF_Status*);
void TFE_OpAddInput(TFE_Op*, TFE_TensorHandle*, TF_Status*);
void TFE_Execute(TFE_Op*, TFE_TensorHandle**, int*, TF_Status*);
TFE_Executor* TFE_NewExecutor(bool, bool, int);
void TFE_DeleteExecutor(TFE_Executor*);
void TFE_ContextSetExecutorForThread(TFE_Context*, TFE_Executor*);
unsigned char TFE_ContextHasFunction(TFE_Context*, const char*);
void TFE_ContextGetFunctionDef(TFE_Context*, const char*, TF_Buffer*, TF_Status*);
void TFE_ContextAddFunctionDef(TFE_Context*, const char*, size_t, TF_Status*);
const char* TFE_TensorHandleDeviceName(TFE_TensorHandle*, TF_Status*);
void* TFE_TensorHandleDevicePointer(TFE_TensorHandle*, TF_Status*);
TFE_TensorHandle* TFE_TensorHandleCopySharingTensor(TFE_TensorHandle*, TF_Status*);
TF_Tensor* TFE_TensorHandleResolve(TFE_TensorHandle*, TF_Status*);
TF_DataType TFE_TensorHandleDataType(TFE_TensorHandle*);
TFE_TensorHandle* TFE_NewTensorHandle(const TF_Tensor*, TF_Status*);
void TFE_DeleteTensorHandle(TFE_TensorHandle*);
TFE_TensorHandle* TFE_NewCustomDeviceTensorHandle(TFE_Context*, const char*, TF_DataType, void*,
                                                  TFE_CustomDeviceTensorHandle, TF_Status*);
TF_OpDefinitionBuilder* TF_NewOpDefinitionBuilder(const char*);
void TF_OpDefinitionBuilderAddAttr(TF_OpDefinitionBuilder*, const char*);
void TF_OpDefinitionBuilderAddInput(TF_OpDefinitionBuilder*, const char*);
void TF_OpDefinitionBuilderAddOutput(TF_OpDefinitionBuilder*, const char*);
void TF_OpDefinitionBuilderSetIsStateful(TF_OpDefinitionBuilder*, bool);
void TF_OpDefinitionBuilderSetShapeInferenceFunction(TF_OpDefinitionBuilder*,
                                                     void (*)(TF_ShapeInferenceContext*, TF_Status*));
void TF_RegisterOpDefinition(TF_OpDefinitionBuilder*, TF_Status*);
TF_ShapeHandle* TF_NewShapeHandle();
int64_t TF_ShapeInferenceContextNumInputs(TF_ShapeInferenceContext*);
void TF_ShapeInferenceContextGetInput(TF_ShapeInferenceContext*, int, TF_ShapeHandle*, TF_Status*);
void TF_ShapeInferenceContextSetUnknownShape(TF_ShapeInferenceContext*, TF_Status*);
TF_ShapeHandle* TF_ShapeInferenceContextVectorFromSize(TF_ShapeInferenceContext*, size_t);
void TF_ShapeInferenceContextSetOutput(TF_ShapeInferenceContext*, int, TF_ShapeHandle*, TF_Status*);
void TF_DeleteShapeHandle(TF_ShapeHandle*);
TF_KernelBuilder* TF_NewKernelBuilder(const char*, const char*, void* (*)(TF_OpKernelConstruction*),
                                      void (*)(void*, TF_OpKernelContext*), void (*)(void*));
void TF_RegisterKernelBuilder(const char*, TF_KernelBuilder*, TF_Status*);
void TF_OpKernelConstruction_GetAttrInt64(TF_OpKernelConstruction*, const char*, int64_t*, TF_Status*);
void TF_OpKernelConstruction_GetAttrString(TF_OpKernelConstruction*, const char*, char*, size_t, TF_Status*);
void TF_OpKernelConstruction_Failure(TF_OpKernelConstruction*, TF_Status*);
void TF_GetInput(TF_OpKernelContext*, int, TF_Tensor**, TF_Status*);
TF_Tensor* TF_AllocateOutput(TF_OpKernelContext*, int, TF_DataType, const int64_t*, int, size_t, TF_Status*);

}  // extern "C"
