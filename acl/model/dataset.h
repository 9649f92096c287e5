// SPDX-License-Identifier: Apache-2.0
// What stands behind aclmdlDataset.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "acl/include/acl/acl_mdl.h"
#include "acl/singleop/description.h"

namespace npu::acl {

/// A buffer of a data set and its shape. Queued runs hold it, too: they tell the shape of what they gave.
struct DatasetEntry {
  explicit DatasetEntry(aclDataBuffer* of) : buffer(of) {}
  ~DatasetEntry();
  DatasetEntry(const DatasetEntry&) = delete;
  DatasetEntry& operator=(const DatasetEntry&) = delete;
  /// The description clients see is made when it is set first.
  void describe(aclTensorDesc shape);

  aclDataBuffer* const buffer;
  aclTensorDesc* desc = nullptr;
};

}  // namespace npu::acl

struct aclmdlDataset {
  std::vector<std::shared_ptr<npu::acl::DatasetEntry>> entries;
  std::optional<std::pair<uint32_t, size_t>> gear;  ///< of which model, and its position there
};
