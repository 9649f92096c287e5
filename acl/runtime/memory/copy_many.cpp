// SPDX-License-Identifier: Apache-2.0
// Copies of many parts in one call: the rows of a matrix, and batches.
#include <algorithm>
#include <cstdint>

#include "acl/call.h"
#include "acl/include/acl/acl_rt.h"
#include "acl/runtime/memory/copy.h"
#include "device/context/context.h"

namespace npu::acl {
namespace {

// What the vendor's page allows.
constexpr size_t kMostRows = size_t{5} << 20;

Copy matrix(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height,
            aclrtMemcpyKind kind) {
  if (kind != ACL_MEMCPY_HOST_TO_DEVICE && kind != ACL_MEMCPY_DEVICE_TO_HOST)
    fail(Code::kRtParamInvalid, "kind is {}; pass 1 (ACL_MEMCPY_HOST_TO_DEVICE) or 2 (ACL_MEMCPY_DEVICE_TO_HOST)",
         static_cast<int>(kind));
  if (width > dpitch || width > spitch)
    fail(Code::kRtParamInvalid, "width is {} bytes, dpitch {} and spitch {}; a row must fit into both", width, dpitch,
         spitch);
  if (height > kMostRows) fail(Code::kRtParamInvalid, "height is {}; at most {} rows are copied", height, kMostRows);
  if (const size_t widest = std::max(dpitch, spitch); height > 1 && widest > SIZE_MAX / height)
    fail(Code::kRtParamInvalid, "{} rows, {} bytes apart, are more than there is memory", height, widest);
  return {dst, width, src, width, kind, height, dpitch, spitch};
}

/// The copies of one call; attrs[k] describes those from attrsIndexes[k] on.
struct Batch {
  void** dsts;
  size_t* room;
  void** srcs;
  size_t* sizes;
  size_t count;
  aclrtMemcpyBatchAttr* attrs;
  size_t* starts;
  size_t kinds;
};

bool is_host(const aclrtMemLocation& location, const char* name, size_t at) {
  if (location.type == ACL_MEM_LOCATION_TYPE_HOST) return true;
  if (location.type == ACL_MEM_LOCATION_TYPE_DEVICE) return false;
  fail(Code::kRtParamInvalid,
       "attrs[{}].{}.type is {}; pass 0 (ACL_MEM_LOCATION_TYPE_HOST) or 1 (ACL_MEM_LOCATION_TYPE_DEVICE)", at, name,
       static_cast<int>(location.type));
}

aclrtMemcpyKind kind_of(const aclrtMemcpyBatchAttr& attr, size_t at) {
  const bool from_host = is_host(attr.srcLoc, "srcLoc", at), to_host = is_host(attr.dstLoc, "dstLoc", at);
  if (from_host) return to_host ? ACL_MEMCPY_HOST_TO_HOST : ACL_MEMCPY_HOST_TO_DEVICE;
  return to_host ? ACL_MEMCPY_DEVICE_TO_HOST : ACL_MEMCPY_DEVICE_TO_DEVICE;
}

void check(const Batch& b) {
  given(b.dsts, "dsts"), given(b.room, "destMax"), given(b.srcs, "srcs"), given(b.sizes, "sizes");
  given(b.attrs, "attrs"), given(b.starts, "attrsIndexes");
  if (b.count == 0) fail(Code::kRtParamInvalid, "numBatches is 0; pass at least one copy");
  if (b.kinds == 0 || b.kinds > b.count)
    fail(Code::kRtParamInvalid, "numAttrs is {}; it is between 1 and numBatches ({})", b.kinds, b.count);
  for (size_t k = 0; k < b.kinds; ++k) {
    const size_t least = k == 0 ? 0 : b.starts[k - 1] + 1, most = k == 0 ? 0 : b.count - 1;
    if (b.starts[k] < least || b.starts[k] > most)
      fail(Code::kRtParamInvalid,
           "attrsIndexes[{}] is {}; the first is 0, and each is larger than the one before and "
           "less than numBatches ({})",
           k, b.starts[k], b.count);
  }
}

/// Hands each copy to `each`. `fail_index` gets the number of the one that is refused.
template <class F>
void for_each_copy(const Batch& b, size_t* fail_index, F&& each) {
  size_t& failed = result(fail_index, "failIndex");
  failed = SIZE_MAX;
  check(b);
  for (size_t k = 0; k < b.kinds; ++k) {
    const aclrtMemcpyKind kind = kind_of(b.attrs[k], k);
    const size_t end = k + 1 < b.kinds ? b.starts[k + 1] : b.count;
    for (size_t i = b.starts[k]; i < end; ++i) {
      failed = i;
      each(Copy{b.dsts[i], b.room[i], b.srcs[i], b.sizes[i], kind});
    }
  }
  failed = SIZE_MAX;
}

}  // namespace
}  // namespace npu::acl

using namespace npu;       // NOLINT: the C functions below are the door itself
using namespace npu::acl;  // NOLINT

aclError aclrtMemcpy2d(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height,
                       aclrtMemcpyKind kind) {
  return call("aclrtMemcpy2d", [&] { copy_now(matrix(dst, dpitch, src, spitch, width, height, kind)); });
}
aclError aclrtMemcpy2dAsync(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height,
                            aclrtMemcpyKind kind, aclrtStream stream) {
  return call("aclrtMemcpy2dAsync", [&] {
    copy_in_stream(matrix(dst, dpitch, src, spitch, width, height, kind), device::stream_from_handle(stream));
  });
}
aclError aclrtMemcpyBatch(void** dsts, size_t* destMax, void** srcs, size_t* sizes, size_t numBatches,
                          aclrtMemcpyBatchAttr* attrs, size_t* attrsIndexes, size_t numAttrs, size_t* failIndex) {
  return call("aclrtMemcpyBatch", [&] {
    for_each_copy({dsts, destMax, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs}, failIndex, copy_now);
  });
}
aclError aclrtMemcpyBatchAsync(void** dsts, size_t* destMax, void** srcs, size_t* sizes, size_t numBatches,
                               aclrtMemcpyBatchAttr* attrs, size_t* attrsIndexes, size_t numAttrs, size_t* failIndex,
                               aclrtStream stream) {
  return call("aclrtMemcpyBatchAsync", [&] {
    device::Stream& queue = device::stream_from_handle(stream);
    for_each_copy({dsts, destMax, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs}, failIndex,
                  [&](const Copy& copy) { copy_in_stream(copy, queue); });
  });
}
