// SPDX-License-Identifier: Apache-2.0
// What stands behind acltdtDataItem and acltdtDataset.
#pragma once

#include <cstddef>
#include <vector>

#include "acl/include/acl/acl_tdt.h"

struct acltdtDataItem {
  acltdtTensorType kind = ACL_TENSOR_DATA_UNDEFINED;
  std::vector<int64_t> dims;
  aclDataType dtype = ACL_DT_UNDEFINED;
  void* data = nullptr;
  size_t size = 0;
  std::vector<std::byte> own;  ///< the bytes, of an item that came through a channel
  bool received = false;       ///< belongs to its data set
};

struct acltdtDataset {
  std::vector<acltdtDataItem*> items;
  bool received = false;  ///< the items are its own

  acltdtDataset() = default;
  acltdtDataset(acltdtDataset&& other) noexcept;
  acltdtDataset& operator=(acltdtDataset&&) = delete;
  ~acltdtDataset();
  /// Takes other items, all its own, in place of those it has.
  void receive(std::vector<acltdtDataItem> content);

 private:
  void end_items();
};
