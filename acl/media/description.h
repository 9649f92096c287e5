// SPDX-License-Identifier: Apache-2.0
// What stands behind the objects of acl_dvpp.h.
#pragma once

#include <array>
#include <atomic>
#include <vector>

#include "acl/include/acl/ops/acl_dvpp.h"
#include "acl/singleop/description.h"
#include "ops/picture/transform.h"

struct acldvppPicDesc {
  void* data = nullptr;
  uint32_t size = 0;
  acldvppPixelFormat format = PIXEL_FORMAT_YUV_400;
  uint32_t width = 0, height = 0, width_stride = 0, height_stride = 0;
  uint32_t code = 0;
};

struct acldvppBatchPicDesc {
  std::vector<acldvppPicDesc*> pictures;  ///< its own

  explicit acldvppBatchPicDesc(uint32_t count);
  acldvppBatchPicDesc(acldvppBatchPicDesc&& other) noexcept;
  acldvppBatchPicDesc& operator=(acldvppBatchPicDesc&&) = delete;
  ~acldvppBatchPicDesc();
};

struct acldvppRoiConfig {
  uint32_t left = 0, right = 0, top = 0, bottom = 0;
};

struct acldvppResizeConfig {
  uint32_t interpolation = 0;
};

struct acldvppBorderConfig {
  acldvppBorderType type = BORDER_CONSTANT;
  uint32_t left = 0, right = 0, top = 0, bottom = 0;
  std::array<double, 4> values{};
};

struct acldvppJpegeConfig {
  uint32_t level = 100;
};

struct acldvppChannelDesc {
  uint32_t mode = DVPP_CHNMODE_VPC | DVPP_CHNMODE_JPEGD | DVPP_CHNMODE_JPEGE;
  uint32_t matrix = ACL_DVPP_CSC_MATRIX_BT601_WIDE;
  uint64_t id = 0;  ///< 0 while it is closed
};

namespace npu::acl {

/// The channel's rule for colours. Raises 100000 for one that is not open.
ops::TransformRule rule_of(const acldvppChannelDesc* channel);

/// A picture whose sizes, strides and memory are checked; addresses are those that kernels use. Raises 100000, 107000.
ops::Picture checked_picture(const acldvppPicDesc& desc, const char* argument);
/// Raises 100000 where memory of both is the same.
void check_apart(const ops::Picture& input, const ops::Picture& output);
/// Sizes and format alone.
void check_sizes(ops::PixelFormat format, uint32_t width, uint32_t height, const char* argument);

}  // namespace npu::acl
