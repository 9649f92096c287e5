// SPDX-License-Identifier: Apache-2.0
// Histograms, pictures looked up in a table, and halved.
#include "ops/picture/histogram.h"

#include "acl/aclnn/launch.h"
#include "acl/call.h"
#include "acl/media/description.h"
#include "device/context/context.h"
#include "device/queue/stream.h"

struct acldvppHist {
  npu::ops::Histogram counts{};
  uint32_t dims = 3, code = 0;
};

struct acldvppLutMap {
  npu::ops::LookUp table{};
};

namespace npu::acl {
namespace {

using HistPool = DescriptionPool<acldvppHist>;
using LutPool = DescriptionPool<acldvppLutMap>;

constexpr uint32_t kChannels = 3, kValues = 256;

size_t channel_of(uint32_t dim) {
  if (dim >= kChannels) fail(Code::kInvalidParam, "dim is {}; there are 3 channels, counted from 0", dim);
  return dim;
}

acldvppLutMap identity() {
  acldvppLutMap map;
  for (auto& channel : map.table)
    for (uint32_t v = 0; v < kValues; ++v) channel[v] = static_cast<uint8_t>(v);
  return map;
}

void refuse_reserved(const void* reserve) {
  if (reserve != nullptr) fail(Code::kInvalidParam, "reserve is not null; it has no use");
}

void queue(const char* name, const ops::Picture& picture, device::TaskBody body, aclrtStream handle) {
  device::Task task;
  task.name = name;
  task.cost_ns = 5000 + 4 * picture.width * picture.height;
  task.body = std::move(body);
  launch_kernel(device::stream_from_handle(handle), std::move(task));
}

struct Pair {
  ops::Picture from, to;
};

Pair checked_pair(const acldvppPicDesc* input, const acldvppPicDesc* output) {
  const Pair pair{checked_picture(described(input, "inputDesc"), "inputDesc"),
                  checked_picture(described(output, "outputDesc"), "outputDesc")};
  if (pair.from.format != pair.to.format)
    fail(Code::kInvalidParam, "the input is {}, the output {}; both must have one format",
         ops::to_string(pair.from.format), ops::to_string(pair.to.format));
  return pair;
}

}  // namespace
}  // namespace npu::acl

using namespace npu;       // NOLINT: the C functions below are the door itself
using namespace npu::acl;  // NOLINT

acldvppHist* acldvppCreateHist() {
  return call_or<acldvppHist*>("acldvppCreateHist", nullptr, [] { return HistPool::create(); });
}
aclError acldvppDestroyHist(acldvppHist* hist) {
  return call("acldvppDestroyHist", [&] {
    described(hist, "hist");
    HistPool::destroy(hist);
  });
}
aclError acldvppClearHist(acldvppHist* hist) {
  return call("acldvppClearHist", [&] { described(hist, "hist") = {}; });
}
uint32_t acldvppGetHistDims(acldvppHist* hist) {
  return call_or<uint32_t>("acldvppGetHistDims", 0, [&] { return described(hist, "hist").dims; });
}
aclError acldvppGetHistData(acldvppHist* hist, uint32_t dim, uint32_t** data, uint16_t* len) {
  return call("acldvppGetHistData", [&] {
    acldvppHist& h = described(hist, "hist");
    given(len, "len");
    result(data, "data") = h.counts[channel_of(dim)].data();
    *len = kValues;
  });
}
uint32_t acldvppGetHistRetCode(acldvppHist* hist) {
  return call_or<uint32_t>("acldvppGetHistRetCode", 0, [&] { return described(hist, "hist").code; });
}
aclError acldvppVpcCalcHistAsync(acldvppChannelDesc* channelDesc, acldvppPicDesc* srcPicDesc, acldvppHist* hist,
                                 void* reserve, aclrtStream stream) {
  return call("acldvppVpcCalcHistAsync", [&] {
    static_cast<void>(rule_of(channelDesc));
    refuse_reserved(reserve);
    described(hist, "hist");
    const ops::Picture picture = checked_picture(described(srcPicDesc, "srcPicDesc"), "srcPicDesc");
    const auto count = [view = ops::planes_of(picture), hist] {
      if (!HistPool::owns(hist)) return;  // destroyed meanwhile: nobody asks
      ops::count_values(view, hist->counts);
      hist->dims = view.model == ops::ColourModel::kGray ? 1 : kChannels;
    };
    queue("acldvppVpcCalcHistAsync", picture, count, stream);
  });
}

acldvppLutMap* acldvppCreateLutMap() {
  return call_or<acldvppLutMap*>("acldvppCreateLutMap", nullptr, [] { return LutPool::create(identity()); });
}
aclError acldvppDestroyLutMap(acldvppLutMap* lutMap) {
  return call("acldvppDestroyLutMap", [&] {
    described(lutMap, "lutMap");
    LutPool::destroy(lutMap);
  });
}
uint32_t acldvppGetLutMapDims(const acldvppLutMap* lutMap) {
  return call_or<uint32_t>("acldvppGetLutMapDims", 0, [&] {
    described(lutMap, "lutMap");
    return kChannels;
  });
}
aclError acldvppGetLutMapData(const acldvppLutMap* lutMap, uint32_t dim, uint8_t** data, uint32_t* len) {
  return call("acldvppGetLutMapData", [&] {
    acldvppLutMap& map = described(lutMap, "lutMap");
    given(len, "len");
    result(data, "data") = map.table[channel_of(dim)].data();
    *len = kValues;
  });
}
aclError acldvppVpcEqualizeHistAsync(const acldvppChannelDesc* channelDesc, const acldvppPicDesc* inputDesc,
                                     acldvppPicDesc* outputDesc, const acldvppLutMap* lutMap, aclrtStream stream) {
  return call("acldvppVpcEqualizeHistAsync", [&] {
    static_cast<void>(rule_of(channelDesc));
    const Pair pair = checked_pair(inputDesc, outputDesc);
    if (pair.from.width != pair.to.width || pair.from.height != pair.to.height)
      fail(Code::kInvalidParam, "the input is {} x {}, the output {} x {}; both must have one size", pair.from.width,
           pair.from.height, pair.to.width, pair.to.height);
    const auto look = [from = ops::planes_of(pair.from), to = ops::planes_of(pair.to),
                       table = described(lutMap, "lutMap").table] { ops::look_up(from, to, table); };
    queue("acldvppVpcEqualizeHistAsync", pair.to, look, stream);
  });
}
aclError acldvppVpcPyrDownAsync(acldvppChannelDesc* channelDesc, acldvppPicDesc* inputDesc, acldvppPicDesc* outputDesc,
                                void* reserve, aclrtStream stream) {
  return call("acldvppVpcPyrDownAsync", [&] {
    static_cast<void>(rule_of(channelDesc));
    refuse_reserved(reserve);
    const Pair pair = checked_pair(inputDesc, outputDesc);
    if (pair.to.width != pair.from.width / 2 || pair.to.height != pair.from.height / 2)
      fail(Code::kInvalidParam, "the input is {} x {}, the output {} x {}; the output must have half of both",
           pair.from.width, pair.from.height, pair.to.width, pair.to.height);
    check_apart(pair.from, pair.to);
    const auto halve = [from = ops::planes_of(pair.from), to = ops::planes_of(pair.to)] { ops::halve(from, to); };
    queue("acldvppVpcPyrDownAsync", pair.to, halve, stream);
  });
}
