// SPDX-License-Identifier: Apache-2.0
// What tasks are called in the tables of profiles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/dtype.h"
#include "device/trace/record.h"
#include "ops/operator.h"

namespace npu::acl {

/// Of what runs by `type`; `op` is null of a graph's node and of a collective.
device::trace::Unit unit_of(std::string_view type, const ops::Operator* op);

/// As the vendor's tables call it. `rank` is the highest of its inputs, `casts` whether its result is of another type;
/// `op` as above.
std::string_view type_of(std::string_view name, const ops::Operator* op, size_t rank, bool casts = false);

/// "2,3;4|FLOAT;INT64|ND;ND", the columns of the tables.
class Shapes {
 public:
  void add(DType dtype, std::span<const uint64_t> shape);
  std::string text() const { return shapes_ + '|' + types_ + '|' + formats_; }

 private:
  std::string shapes_, types_, formats_;
};

}  // namespace npu::acl
