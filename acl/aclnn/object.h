// SPDX-License-Identifier: Apache-2.0
// What stands behind the opaque pointers of acl_meta.h, and the checks every use of one starts with.
#pragma once

#include <string>
#include <vector>

#include "acl/aclnn/pool.h"
#include "acl/include/aclnn/acl_meta.h"
#include "base/scalar.h"
#include "base/tensor.h"

struct aclTensor {
  aclTensor() {}  // NOLINT: a default one would fill the dimensions with zeros first
  npu::Tensor tensor;
  npu::Dims storage;  ///< as the client gave it; tensor.storage_elements is what counts
};
struct aclScalar {
  npu::Scalar scalar;
};
struct aclIntArray {
  std::vector<int64_t> values;
};
struct aclBoolArray {
  std::vector<bool> values;
};
struct aclFloatArray {
  std::vector<float> values;
};
struct aclTensorList {
  std::vector<const aclTensor*> members;  ///< owned; null members allowed
};
struct aclScalarList {
  std::vector<const aclScalar*> members;
};

namespace npu::acl {

/// The pool of each kind. Capacities bound address space, not memory: pages are committed as objects are made.
template <class T>
using ObjectPool = Pool<T, 1 << 20>;

/// Refuses (161002) a view with a place that 64 bits cannot name, in bytes too: from here on kernels multiply sizes by
/// strides without looking.
void check_reach(const Tensor& view);

/// Refuses (161002) a pointer that is no live object of its kind: destroyed already, or something else.
template <class T>
const T& live(const T* pointer, const char* kind) {
  require(ObjectPool<T>::owns(pointer), "the {} at {} is not alive: it was destroyed, or is another kind of object",
          kind, static_cast<const void*>(pointer));
  return *pointer;
}

}  // namespace npu::acl
