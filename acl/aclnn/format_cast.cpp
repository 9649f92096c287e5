// SPDX-License-Identifier: Apache-2.0
#include "acl/include/aclnn/format_cast.h"

#include <algorithm>

#include "acl/aclnn/object.h"
#include "acl/error_state.h"
#include "ops/matmul/blocked.h"

using namespace npu;       // NOLINT: the C functions below are the door itself
using namespace npu::acl;  // NOLINT

namespace {

constexpr int64_t kBlockRows = 16, kRowBytes = 32;

bool is_plain(int format) {
  constexpr int kPlain[] = {ACL_FORMAT_ND, ACL_FORMAT_NCHW, ACL_FORMAT_NHWC, ACL_FORMAT_NCL, ACL_FORMAT_NCDHW};
  return std::ranges::find(kPlain, format) != std::end(kPlain);
}

/// [..., columns / width, rows / 16, 16, width], filled up where blocks are not full.
Dims blocked_sizes(const Dims& shape, int64_t width) {
  const int64_t rows = shape[shape.size() - 2], columns = shape.back();
  Dims out(std::span(shape.data(), shape.size() - 2));
  for (const int64_t size : {(columns + width - 1) / width, (rows + kBlockRows - 1) / kBlockRows, kBlockRows, width})
    out.push_back(size);
  return out;
}

Dims storage_after(const Tensor& src, int format, DType by) {
  require(src.rank() >= 2 && src.rank() <= 6, "srcTensor is {}; use 2 to 6 dimensions", src);
  if (ops::is_blocked(src.format)) {
    require(is_plain(format), "dstFormat is {}, srcTensor is in ACL_FORMAT_FRACTAL_NZ; use a plain format", format);
    return src.shape;
  }
  require(is_plain(src.format) && format == ACL_FORMAT_FRACTAL_NZ,
          "srcTensor has format {}, dstFormat is {}; plain tensors go to ACL_FORMAT_FRACTAL_NZ ({}), and back",
          src.format, format, static_cast<int>(ACL_FORMAT_FRACTAL_NZ));
  const auto size = static_cast<int64_t>(size_of(by));
  require(size == 1 || size == 2 || size == 4, "additionalDtype is {}; use a type of 1, 2 or 4 bytes", by);
  return blocked_sizes(src.shape, kRowBytes / size);
}

}  // namespace

aclnnStatus aclnnNpuFormatCastCalculateSizeAndFormat(const aclTensor* srcTensor, int dstFormat, int additionalDtype,
                                                     int64_t** dstShape, uint64_t* dstShapeSize, int* actualFormat) {
  return guarded("aclnnNpuFormatCastCalculateSizeAndFormat", [&] {
    if (srcTensor == nullptr || dstShape == nullptr || dstShapeSize == nullptr || actualFormat == nullptr)
      fail(Code::kNnNullPointer, "srcTensor, dstShape, dstShapeSize or actualFormat is null; all must be given");
    const Tensor& src = live(srcTensor, "aclTensor").tensor;
    const Dims sizes = storage_after(src, dstFormat, static_cast<DType>(additionalDtype));
    *dstShape = new int64_t[sizes.size()];
    std::copy(sizes.begin(), sizes.end(), *dstShape);
    *dstShapeSize = sizes.size(), *actualFormat = dstFormat;
  });
}
