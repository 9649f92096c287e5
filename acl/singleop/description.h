// SPDX-License-Identifier: Apache-2.0
// What stands behind aclTensorDesc, aclDataBuffer and aclopAttr.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "acl/aclnn/pool.h"
#include "acl/include/acl/acl_op.h"
#include "base/dtype.h"

struct aclTensorDesc {
  npu::DType dtype = npu::DType::kUndefined;
  std::vector<int64_t> dims;
  int32_t format = ACL_FORMAT_ND;
  std::vector<int64_t> storage_dims;  ///< as set by the client, else empty
  int32_t storage_format = ACL_FORMAT_UNDEFINED;
  aclMemType placement = ACL_MEMTYPE_DEVICE;
  std::string name;
  std::vector<std::byte> constant;          ///< the values, for tensors known before the call
  std::vector<aclTensorDesc*> others = {};  ///< of a list (aclmdlCreateAndGetOpDesc), in its first; they end with it

  /// Elements; -1 while a size is unknown.
  int64_t count() const;
};

struct aclDataBuffer {
  void* data = nullptr;
  size_t size = 0;
};

struct aclopAttr {
  using Value = std::variant<bool, int64_t, float, std::string, npu::DType, std::vector<bool>, std::vector<int64_t>,
                             std::vector<float>, std::vector<std::vector<int64_t>>>;
  std::map<std::string, Value, std::less<>> values;
};

namespace npu::acl {

template <class T>
using DescriptionPool = Pool<T, 1 << 18>;

/// The object of a pointer the client gave. Raises 100000 when it is null, destroyed, or something else.
template <class T>
T& described(const T* pointer, const char* argument) {
  if (pointer == nullptr) fail(Code::kInvalidParam, "{} is null; it must be given", argument);
  if (!DescriptionPool<T>::owns(pointer))
    fail(Code::kInvalidParam, "{} at {} is not alive: it was destroyed, or is another kind of object", argument,
         static_cast<const void*>(pointer));
  return const_cast<T&>(*pointer);
}

}  // namespace npu::acl
