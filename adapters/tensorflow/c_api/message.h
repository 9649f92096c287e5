// SPDX-License-Identifier: Apache-2.0
// Field numbers of the TensorFlow messages that the adapter reads or writes (tensorflow/core/framework/*.proto, public
// and stable).
#pragma once

#include <cstdint>

namespace npu::tensorflow::field {

enum FunctionDef : uint32_t {
  kFunctionSignature = 1,
  kFunctionNode = 3,
  kFunctionRet = 4,
  kFunctionAttr = 5,
  kFunctionControlRet = 6
};
enum NodeDef : uint32_t { kNodeName = 1, kNodeOp = 2, kNodeInput = 3, kNodeDevice = 4, kNodeAttr = 5 };
enum MapEntry : uint32_t { kKey = 1, kValue = 2 };
enum GraphDef : uint32_t { kGraphLibrary = 2 };
enum Library : uint32_t { kLibraryFunction = 1 };
enum AttrValue : uint32_t { kList = 1, kText = 2, kInt = 3, kFlag = 5, kType = 6, kShape = 7, kFunc = 10 };
enum ListValue : uint32_t { kListType = 6, kListShape = 7, kListFunc = 9 };
enum NameAttrList : uint32_t { kFuncName = 1, kFuncAttr = 2 };
enum Shape : uint32_t { kDim = 2, kUnknownRank = 3 };
enum Dim : uint32_t { kSize = 1 };
enum OpList : uint32_t { kOp = 1 };
enum OpDef : uint32_t { kOpName = 1, kOpOutput = 3, kOpAttr = 4, kOpStateful = 17, kOpControlOutput = 20 };
enum ArgDef : uint32_t { kArgName = 1, kArgType = 3, kArgTypeAttr = 4, kArgNumberAttr = 5, kArgTypeListAttr = 6 };
enum AttrDef : uint32_t { kAttrName = 1, kAttrDefault = 3 };
enum ResourceHandle : uint32_t { kHandleName = 3 };

}  // namespace npu::tensorflow::field
