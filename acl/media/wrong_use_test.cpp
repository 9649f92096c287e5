// SPDX-License-Identifier: Apache-2.0
// Wrong uses of pictures and of channels of tensors, by code and text.
#include <iostream>

#include "acl/include/acl/acl_tdt.h"
#include "acl/include/acl/ops/acl_dvpp.h"
#include "acl/model/wrong_use_fixture.h"

namespace npu::acl {
namespace {

using Uses = std::vector<WrongUse>;

/// A picture of NV12, 32 x 16, which a case changes before it is used.
struct Picture {
  acldvppPicDesc* desc = acldvppCreatePicDesc();
  void* data = nullptr;
  Picture() {
    EXPECT_OK(acldvppMalloc(&data, 768));
    EXPECT_OK(acldvppSetPicDescData(desc, data));
    EXPECT_OK(acldvppSetPicDescSize(desc, 768));
    EXPECT_OK(acldvppSetPicDescFormat(desc, PIXEL_FORMAT_YUV_SEMIPLANAR_420));
    EXPECT_OK(acldvppSetPicDescWidth(desc, 32));
    EXPECT_OK(acldvppSetPicDescHeight(desc, 16));
    EXPECT_OK(acldvppSetPicDescWidthStride(desc, 32));
    EXPECT_OK(acldvppSetPicDescHeightStride(desc, 16));
  }
  Picture(const Picture&) = delete;
  Picture& operator=(const Picture&) = delete;
  ~Picture() {
    EXPECT_OK(acldvppDestroyPicDesc(desc));
    EXPECT_OK(acldvppFree(data));
  }
};

struct Media {
  acldvppChannelDesc* channel = acldvppCreateChannelDesc();
  const Picture to;
  Media() { EXPECT_OK(acldvppCreateChannel(channel)); }
  Media(const Media&) = delete;
  Media& operator=(const Media&) = delete;
  ~Media() {
    EXPECT_OK(acldvppDestroyChannel(channel));
    EXPECT_OK(acldvppDestroyChannelDesc(channel));
  }
  template <class Change>
  aclError convert(Change&& change) const {
    const Picture from;
    change(from.desc);
    return acldvppVpcConvertColorAsync(channel, from.desc, to.desc, nullptr);
  }
  aclError crop(uint32_t left, uint32_t right, uint32_t top, uint32_t bottom) const {
    const Picture from;
    acldvppRoiConfig* part = acldvppCreateRoiConfig(left, right, top, bottom);
    const aclError code = acldvppVpcCropAsync(channel, from.desc, to.desc, part, nullptr);
    acldvppDestroyRoiConfig(part);
    return code;
  }
};

Uses wrong_pictures(const Media& m) {
  const auto changed = [&m](auto change) { return [&m, change] { return m.convert(change); }; };
  return {
      {"too small", 100000, {"8 x 16", "10 x 6"}, changed([](auto* d) { acldvppSetPicDescWidth(d, 8); })},
      {"an odd height", 100000, {"32 x 15", "even"}, changed([](auto* d) { acldvppSetPicDescHeight(d, 15); })},
      {"rows that are not aligned", 100000, {"width stride", "24", "multiple of 16"}, changed([](auto* d) {
         acldvppSetPicDescWidthStride(d, 24);
       })},
      {"rows shorter than the picture", 100000, {"width stride", "32 bytes of a row"}, changed([](auto* d) {
         acldvppSetPicDescWidthStride(d, 16);
       })},
      {"too few rows", 100000, {"height stride", "at least the height"}, changed([](auto* d) {
         acldvppSetPicDescHeightStride(d, 14);
       })},
      {"a byte less", 100000, {"767 bytes", "it needs 768"}, changed([](auto* d) { acldvppSetPicDescSize(d, 767); })},
      {"a format that is not built", 100000, {"pixel format 29", "YUV420SP"}, changed([](auto* d) {
         acldvppSetPicDescFormat(d, PIXEL_FORMAT_RGB_555);
       })},
      {"no memory", 100000, {"is null"}, changed([](auto* d) { acldvppSetPicDescData(d, nullptr); })},
      {"the same memory",
       100000,
       {"overlaps", "memory of its own"},
       [&m] { return acldvppVpcConvertColorAsync(m.channel, m.to.desc, m.to.desc, nullptr); }},
      {"no picture",
       100000,
       {"inputDesc is null"},
       [&m] { return acldvppVpcConvertColorAsync(m.channel, nullptr, m.to.desc, nullptr); }},
      {"a part that begins at odd numbers", 100000, {"(1, 0)", "even numbers"}, [&m] { return m.crop(1, 16, 0, 15); }},
      {"a part outside", 100000, {"(33, 15)", "32 x 16"}, [&m] { return m.crop(0, 33, 0, 15); }},
      {"no part",
       100000,
       {"is null"},
       [&m] { return acldvppVpcCropAsync(m.channel, Picture().desc, m.to.desc, nullptr, nullptr); }},
      {"a file in host memory",
       100000,
       {"host memory", "acldvppMalloc"},
       [&m] { return acldvppJpegDecodeAsync(m.channel, "host", 4, m.to.desc, nullptr); }},
      {"a channel opened twice", 100000, {"channel"}, [&m] { return acldvppCreateChannel(m.channel); }},
      {"video", 207000, {"video", "FFmpeg"}, [] { return aclvdecCreateChannel(nullptr); }},
  };
}

struct Tensors {
  acltdtChannelHandle *channel = acltdtCreateChannelWithCapacity(0, "wrong uses", 2), *dead = nullptr,
                      *stopped = nullptr;
  acltdtDataset *empty = acltdtCreateDataset(), *end = acltdtCreateDataset(), *dead_set = acltdtCreateDataset();
  acltdtDataItem* mark = acltdtCreateDataItem(ACL_TENSOR_DATA_END_OF_SEQUENCE, nullptr, 0, ACL_FLOAT, nullptr, 0);
  Tensors() {
    EXPECT_OK(acltdtAddDataItem(end, mark));
    EXPECT_OK(acltdtDestroyDataset(dead_set));
    dead = acltdtCreateChannel(0, "dead"), stopped = acltdtCreateChannel(0, "stopped uses");
    EXPECT_OK(acltdtDestroyChannel(dead));
    EXPECT_OK(acltdtStopChannel(stopped));
  }
  Tensors(const Tensors&) = delete;
  Tensors& operator=(const Tensors&) = delete;
  ~Tensors() {
    for (acltdtChannelHandle* one : {channel, stopped}) EXPECT_OK(acltdtDestroyChannel(one));
    for (acltdtDataset* one : {empty, end}) EXPECT_OK(acltdtDestroyDataset(one));
    EXPECT_OK(acltdtDestroyDataItem(mark));
  }
};

/// An object that could not be made is a code of 1; the text says why.
aclError made(const void* object) { return object == nullptr ? 1 : 0; }

aclError tensor_of(acltdtTensorType kind, int64_t size, const void* data, size_t bytes) {
  return made(acltdtCreateDataItem(kind, &size, 1, ACL_FLOAT, const_cast<void*>(data), bytes));
}

Uses wrong_channels(Tensors& t) {
  return {
      {"of a device that there is not", 1, {"99"}, [] { return made(acltdtCreateChannel(99, "x")); }},
      {"without a name", 1, {"name is null"}, [] { return made(acltdtCreateChannel(0, nullptr)); }},
      {"of an empty name", 1, {"name is empty", "known by its name"}, [] { return made(acltdtCreateChannel(0, "")); }},
      {"of room for one",
       1,
       {"capacity is 1", "between"},
       [] { return made(acltdtCreateChannelWithCapacity(0, "x", 1)); }},
      {"an item of no kind",
       1,
       {"tdtType is -1", "0 (tensor)"},
       [] { return tensor_of(ACL_TENSOR_DATA_UNDEFINED, 0, nullptr, 0); }},
      {"a size that is negative",
       1,
       {"dims[0] is -1"},
       [] { return tensor_of(ACL_TENSOR_DATA_TENSOR, -1, nullptr, 0); }},
      {"bytes that are null", 1, {"data is null"}, [] { return tensor_of(ACL_TENSOR_DATA_TENSOR, 1, nullptr, 4); }},
      {"nothing sent", 100000, {"no item", "END_OF_SEQUENCE"}, [&] { return acltdtSendTensor(t.channel, t.empty, 0); }},
      {"sent through null", 100000, {"handle is null"}, [&] { return acltdtSendTensor(nullptr, t.end, 0); }},
      {"sent through a destroyed one", 100000, {"destroyed"}, [&] { return acltdtSendTensor(t.dead, t.end, 0); }},
      {"a destroyed set sent", 100000, {"destroyed"}, [&] { return acltdtSendTensor(t.channel, t.dead_set, 0); }},
      {"sent through a stopped one",
       500001,
       {"was stopped", "create it anew"},
       [&] { return acltdtSendTensor(t.stopped, t.end, -1); }},
      {"received from an empty one",
       207013,
       {"is empty", "wait longer"},
       [&] { return acltdtReceiveTensor(t.channel, t.empty, 0); }},
      {"received into a full set",
       100000,
       {"1 items of yours", "empty one"},
       [&] { return acltdtReceiveTensor(t.channel, t.end, 0); }},
      {"a limit of -2",
       107000,
       {"timeout is -2", "-1 for no limit"},
       [&] { return acltdtReceiveTensor(t.channel, t.empty, -2); }},
      {"null added", 100000, {"dataItem is null"}, [&] { return acltdtAddDataItem(t.empty, nullptr); }},
      {"sent when it is full",
       207014,
       {"is full", "receive some"},
       [&] {
         for (int i = 0; i < 2; ++i) EXPECT_OK(acltdtSendTensor(t.channel, t.end, -1));
         return acltdtSendTensor(t.channel, t.end, 0);
       }},
      {"destroyed twice", 100000, {"destroyed"}, [&] { return acltdtDestroyChannel(t.dead); }},
  };
}

using WrongMediaUses = OnDevice;

TEST_F(WrongMediaUses, AreToldByCodeAndText) {
  const Media media;
  Tensors tensors;
  const size_t count = expect_refused(wrong_pictures(media)) + expect_refused(wrong_channels(tensors));
  std::cout << count << " wrong uses of pictures and channels are told\n";
  EXPECT_GE(count, 30U);
}

}  // namespace
}  // namespace npu::acl
