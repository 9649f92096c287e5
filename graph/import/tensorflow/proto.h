// SPDX-License-Identifier: Apache-2.0
// Field numbers of the TensorFlow messages we read (tensorflow/core/{framework,protobuf}/*.proto, public and stable).
#pragma once

#include "graph/import/message.h"

namespace npu::graph::tensorflow {

namespace field {
enum FunctionDef : uint32_t {
  kSignature = 1,
  kNodeDef = 3,
  kRet = 4,
  kFunctionAttr = 5,
  kControlRet = 6,
  kArgAttr = 7
};
enum ArgAttrs : uint32_t { kArgAttrsAttr = 1 };
enum GraphDef : uint32_t { kNode = 1, kLibrary = 2 };
enum Library : uint32_t { kFunction = 1 };
enum NodeDef : uint32_t { kName = 1, kOp = 2, kInput = 3, kDevice = 4, kAttr = 5 };
enum OpList : uint32_t { kOpDef = 1 };
enum OpDef : uint32_t { kOpName = 1, kInputArg = 2, kOutputArg = 3, kOpAttr = 4, kIsStateful = 17 };
enum ArgDef : uint32_t { kArgName = 1, kType = 3, kTypeAttr = 4, kNumberAttr = 5, kTypeListAttr = 6, kIsRef = 16 };
enum AttrDef : uint32_t { kAttrName = 1, kDefault = 3, kHasMinimum = 5, kMinimum = 6, kAllowed = 7 };
enum MapEntry : uint32_t { kKey = 1, kValue = 2 };
enum AttrValue : uint32_t {
  kList = 1,
  kS = 2,
  kI = 3,
  kF = 4,
  kB = 5,
  kAttrType = 6,
  kShape = 7,
  kTensor = 8,
  kFunc = 10
};
enum ListValue : uint32_t { kListFunc = 9 };
enum NameAttrList : uint32_t { kFuncName = 1 };
enum Shape : uint32_t { kDim = 2, kUnknownRank = 3 };
enum Dim : uint32_t { kSize = 1 };
enum Tensor : uint32_t {
  kDType = 1,
  kTensorShape = 2,
  kContent = 4,
  kFloatVal = 5,
  kDoubleVal = 6,
  kIntVal = 7,
  kStringVal = 8,
  kScomplexVal = 9,
  kInt64Val = 10,
  kBoolVal = 11,
  kDcomplexVal = 12,
  kHalfVal = 13,
  kUint32Val = 16,
  kUint64Val = 17,
};
enum SavedModel : uint32_t { kSchemaVersion = 1, kMetaGraph = 2 };
enum MetaGraph : uint32_t { kMetaInfo = 1, kMetaGraphDef = 2, kSaver = 3, kSignatureDef = 5 };
enum MetaInfo : uint32_t { kTags = 4 };
enum Saver : uint32_t { kRestoreOp = 3 };
enum SignatureDef : uint32_t { kSignatureInputs = 1, kSignatureOutputs = 2 };
enum TensorInfo : uint32_t { kTensorName = 1, kInfoType = 2, kInfoShape = 3, kSparse = 4, kComposite = 5 };
enum BundleHeader : uint32_t { kNumShards = 1, kEndianness = 2 };
enum BundleEntry : uint32_t {
  kEntryType = 1,
  kEntryShape = 2,
  kShard = 3,
  kOffset = 4,
  kEntrySize = 5,
  kChecksum = 6,
  kSlices = 7
};
}  // namespace field

}  // namespace npu::graph::tensorflow
