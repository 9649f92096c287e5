// SPDX-License-Identifier: Apache-2.0
// What a single operator was compiled for: its type, its tensors, its attributes; as JSON as atc --singleop reads it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "acl/singleop/description.h"
#include "base/json.h"

namespace npu::acl {

struct TensorSignature {
  DType dtype = DType::kUndefined;
  int32_t format = ACL_FORMAT_ND;
  std::vector<int64_t> dims;  ///< -1: any size; -2 alone: any dimensions
  bool operator==(const TensorSignature&) const = default;
};

struct OpSignature {
  std::string type;
  std::vector<TensorSignature> inputs, outputs;
  aclopAttr attributes;

  /// Whether a call described by `call`, whose sizes are all known, is one that this was compiled for.
  bool takes(const OpSignature& call) const;
};

/// Of a call. Raises 100000 for what is null, destroyed, or counted wrong.
OpSignature signature_of(const char* type, std::span<const aclTensorDesc* const> inputs,
                         std::span<const aclTensorDesc* const> outputs, const aclopAttr* attributes);
/// An entry of the file of atc --singleop. Raises 100000 with E10023 and the like in front, naming entry and member.
OpSignature signature_of(const Json& entry, size_t number);
Json to_json(const OpSignature& op);

/// "Add(float32[2x3], float32[2x3]) -> float32[2x3]", for texts.
std::string to_string(const OpSignature& op);
/// As the vendor's atc calls the file of entry `number`, without its end: "0_Add_0_2_2_3_0_2_2_3_0_2_2_3", type, then
/// dtype, format and sizes of each tensor.
std::string file_name(const OpSignature& op, size_t number);

}  // namespace npu::acl
