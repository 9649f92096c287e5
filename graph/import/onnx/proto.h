// SPDX-License-Identifier: Apache-2.0
// Field numbers of the ONNX messages we read (onnx/onnx.proto, public and stable).
#pragma once

#include "graph/import/message.h"

namespace npu::graph::onnx::field {

enum Model : uint32_t {
  kIrVersion = 1,
  kProducer = 2,
  kProducerVersion = 3,
  kGraph = 7,
  kOpsetImport = 8,
  kFunctions = 25
};
enum OperatorSet : uint32_t { kSetDomain = 1, kSetVersion = 2 };
enum Graph : uint32_t {
  kNode = 1,
  kGraphName = 2,
  kInitializer = 5,
  kInput = 11,
  kOutput = 12,
  kValueInfo = 13,
  kSparseInitializer = 15
};
enum Node : uint32_t { kIn = 1, kOut = 2, kNodeName = 3, kOpType = 4, kAttribute = 5, kDomain = 7 };
enum LocalFunction : uint32_t {
  kFunctionName = 1,
  kFormalIn = 4,
  kFormalOut = 5,
  kFunctionNode = 7,
  kFunctionOpset = 9,
  kFunctionDomain = 10,
  kDefaultAttribute = 11
};
enum Attribute : uint32_t {
  kAttrName = 1,
  kF = 2,
  kI = 3,
  kS = 4,
  kT = 5,
  kG = 6,
  kFloats = 7,
  kInts = 8,
  kStrings = 9,
  kTypeOf = 14,
  kAttrType = 20,
  kReference = 21,
  kSparse = 22
};
enum Tensor : uint32_t {
  kDims = 1,
  kDataType = 2,
  kSegment = 3,
  kFloatData = 4,
  kInt32Data = 5,
  kStringData = 6,
  kInt64Data = 7,
  kTensorName = 8,
  kRawData = 9,
  kDoubleData = 10,
  kUint64Data = 11,
  kExternal = 13,
  kLocation = 14
};
enum Sparse : uint32_t { kSparseValues = 1, kSparseIndices = 2, kSparseDims = 3 };
enum ValueInfo : uint32_t { kValueName = 1, kValueType = 2 };
enum Type : uint32_t { kTensorType = 1, kSequenceType = 4, kMapType = 5, kSparseType = 8, kOptionalType = 9 };
enum TensorType : uint32_t { kElement = 1, kShape = 2 };
enum Shape : uint32_t { kDim = 1 };
enum Dim : uint32_t { kSize = 1, kSymbol = 2 };

}  // namespace npu::graph::onnx::field
