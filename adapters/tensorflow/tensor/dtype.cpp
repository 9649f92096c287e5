// SPDX-License-Identifier: Apache-2.0
#include "adapters/tensorflow/tensor/dtype.h"

#include <array>
#include <string>

#include "adapters/tensorflow/c_api/owned.h"

namespace npu::tensorflow {
namespace {

struct Pair {
  TF_DataType theirs;
  aclDataType ours;
  size_t bytes;
};

constexpr std::array<Pair, 15> kTypes = {{{TF_FLOAT, ACL_FLOAT, 4},
                                          {TF_DOUBLE, ACL_DOUBLE, 8},
                                          {TF_INT32, ACL_INT32, 4},
                                          {TF_UINT8, ACL_UINT8, 1},
                                          {TF_INT16, ACL_INT16, 2},
                                          {TF_INT8, ACL_INT8, 1},
                                          {TF_COMPLEX64, ACL_COMPLEX64, 8},
                                          {TF_INT64, ACL_INT64, 8},
                                          {TF_BOOL, ACL_BOOL, 1},
                                          {TF_BFLOAT16, ACL_BF16, 2},
                                          {TF_UINT16, ACL_UINT16, 2},
                                          {TF_COMPLEX128, ACL_COMPLEX128, 16},
                                          {TF_HALF, ACL_FLOAT16, 2},
                                          {TF_UINT32, ACL_UINT32, 4},
                                          {TF_UINT64, ACL_UINT64, 8}}};

const Pair* find_type(TF_DataType type) {
  for (const Pair& pair : kTypes)
    if (pair.theirs == type) return &pair;
  return nullptr;
}

}  // namespace

TF_DataType data_type(aclDataType dtype) {
  for (const Pair& pair : kTypes)
    if (pair.ours == dtype) return pair.theirs;
  throw Failure(TF_UNIMPLEMENTED, "TensorFlow has no data type for aclDataType " + std::to_string(dtype));
}

std::optional<aclDataType> engine_type(TF_DataType type) {
  const Pair* pair = find_type(type);
  return pair == nullptr ? std::nullopt : std::optional(pair->ours);
}

size_t bytes_of(TF_DataType type) {
  const Pair* pair = find_type(type);
  return pair == nullptr ? 0 : pair->bytes;
}

}  // namespace npu::tensorflow
