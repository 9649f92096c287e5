// SPDX-License-Identifier: Apache-2.0
// What stands behind aclTensorDesc, aclDataBuffer and aclopAttr.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "acl/aclnn/pool.h"
#include "acl/call.h"
#include "acl/include/acl/acl_op.h"
#include "base/dtype.h"

namespace npu::acl {
constexpr int64_t kUnknownRank = -2;  ///< as the only size
}

struct aclTensorDesc {
  npu::DType dtype = npu::DType::kUndefined;
  std::vector<int64_t> dims;
  int32_t format = ACL_FORMAT_ND;
  std::vector<int64_t> storage_dims;  ///< as set by the client, else empty
  int32_t storage_format = ACL_FORMAT_UNDEFINED;
  aclMemType placement = ACL_MEMTYPE_DEVICE;
  std::string name;
  std::vector<std::pair<int64_t, int64_t>> ranges;  ///< least and most of each size, where the client set them
  std::vector<std::byte> constant;                  ///< the values, for tensors known before the call
  std::vector<aclTensorDesc*> others = {};  ///< of a list (aclmdlCreateAndGetOpDesc), in its first; they end with it

  /// Elements; -1 while a size is unknown.
  int64_t count() const;
  bool unknown_rank() const;
};

struct aclDataBuffer {
  void* data = nullptr;
  size_t size = 0;
};

struct aclopAttr {
  using Value = std::variant<bool, int64_t, float, std::string, npu::DType, std::vector<bool>, std::vector<int64_t>,
                             std::vector<float>, std::vector<std::vector<int64_t>>, std::vector<std::string>,
                             std::vector<npu::DType>>;
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

/// What an array of the client's and its length say. Raises 100000 for a negative length, and for null with members.
template <class T>
std::span<const T> span_of(int count, const T* values, const char* argument) {
  if (count < 0) fail(Code::kInvalidParam, "the number of {} is {}; it must not be negative", argument, count);
  if (count > 0) given(values, argument);
  return {values, static_cast<size_t>(count)};
}

}  // namespace npu::acl
