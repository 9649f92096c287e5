// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "acl/model/loaded.h"

namespace npu::acl {

/// Device memory that the client gives to a model; null and 0 for none.
struct GivenMemory {
  void* work = nullptr;
  size_t work_size = 0;
  void* weights = nullptr;
  size_t weight_size = 0;
};

/// Loads a model into the current context and gives its number. Raises as graph::model::read_model.
uint32_t load_model(const ModelBytes& from);
/// The same with memory of the client's. Raises 145007 where it is too small, 107000 where it is no device memory.
uint32_t load_model(const ModelBytes& from, const GivenMemory& memory);

}  // namespace npu::acl
