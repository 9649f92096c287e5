// SPDX-License-Identifier: Apache-2.0
// Media functions as programs call them: memory, descriptions, a channel, work in a stream.
#include <algorithm>
#include <functional>
#include <random>
#include <string>

#include "acl/include/acl/ops/acl_dvpp.h"
#include "acl/runtime/runtime_fixture.h"

namespace npu::acl {
namespace {

class Media : public OnDevice {
 protected:
  void SetUp() override {
    OnDevice::SetUp();
    channel = acldvppCreateChannelDesc();
    ASSERT_OK(acldvppCreateChannel(channel));
  }
  void TearDown() override {
    EXPECT_OK(acldvppDestroyChannel(channel));
    EXPECT_OK(acldvppDestroyChannelDesc(channel));
  }
  acldvppChannelDesc* channel = nullptr;
};

uint32_t bytes_of(acldvppPixelFormat format, uint32_t width_stride, uint32_t height_stride) {
  const uint32_t plane = width_stride * height_stride;
  return format == PIXEL_FORMAT_YUV_SEMIPLANAR_420 ? plane * 3 / 2 : plane;  // of RGB, the stride has all three
}

/// A picture in device memory, and its description.
struct Picture {
  acldvppPicDesc* desc = acldvppCreatePicDesc();
  uint32_t width, height, stride, rows, size;
  void* data = nullptr;

  Picture(acldvppPixelFormat format, uint32_t w, uint32_t h) : width(w), height(h) {
    const uint32_t pixel = format == PIXEL_FORMAT_RGB_888 ? 3 : 1;
    stride = (w + 15) / 16 * 16 * pixel, rows = (h + 1) / 2 * 2, size = bytes_of(format, stride, rows);
    EXPECT_OK(acldvppMalloc(&data, size));
    EXPECT_OK(acldvppSetPicDescData(desc, data));
    EXPECT_OK(acldvppSetPicDescSize(desc, size));
    EXPECT_OK(acldvppSetPicDescFormat(desc, format));
    EXPECT_OK(acldvppSetPicDescWidth(desc, w));
    EXPECT_OK(acldvppSetPicDescHeight(desc, h));
    EXPECT_OK(acldvppSetPicDescWidthStride(desc, stride));
    EXPECT_OK(acldvppSetPicDescHeightStride(desc, rows));
  }
  Picture(const Picture&) = delete;
  Picture& operator=(const Picture&) = delete;
  ~Picture() {
    EXPECT_OK(acldvppDestroyPicDesc(desc));
    EXPECT_OK(acldvppFree(data));
  }
  void write(const std::vector<uint8_t>& bytes) const {
    EXPECT_OK(aclrtMemcpy(data, size, bytes.data(), bytes.size(), ACL_MEMCPY_HOST_TO_DEVICE));
  }
  void write(unsigned seed) const {
    std::mt19937 engine(seed);
    std::vector<uint8_t> bytes(size);
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(engine());
    write(bytes);
  }
  /// Smooth, so that a codec hardly changes it.
  void write_smooth() const {
    std::vector<uint8_t> bytes(size);
    for (uint32_t i = 0; i < size; ++i) bytes[i] = static_cast<uint8_t>(80 + i % stride * 60 / stride + i / stride);
    write(bytes);
  }
  std::vector<uint8_t> read() const {
    std::vector<uint8_t> bytes(size);
    EXPECT_OK(aclrtMemcpy(bytes.data(), size, data, size, ACL_MEMCPY_DEVICE_TO_HOST));
    return bytes;
  }
};

void finish() { EXPECT_OK(aclrtSynchronizeStream(nullptr)); }

TEST_F(Media, CutsOutAndPastes) {
  const Picture from(PIXEL_FORMAT_YUV_SEMIPLANAR_420, 64, 32), to(PIXEL_FORMAT_YUV_SEMIPLANAR_420, 32, 16);
  from.write(1), to.write(2);
  const std::vector<uint8_t> in = from.read(), before = to.read();
  acldvppRoiConfig *crop = acldvppCreateRoiConfig(10, 19, 4, 11), *paste = acldvppCreateRoiConfig(2, 11, 6, 13);
  EXPECT_OK(acldvppVpcCropAndPasteAsync(channel, from.desc, to.desc, crop, paste, nullptr));
  finish();
  const std::vector<uint8_t> out = to.read();
  for (uint32_t y = 0; y < 16; ++y)
    for (uint32_t x = 0; x < 32; ++x) {
      const bool inside = x >= 2 && x <= 11 && y >= 6 && y <= 13;
      ASSERT_EQ(out[y * 32 + x], inside ? in[(y - 2) * 64 + x + 8] : before[y * 32 + x]) << x << ", " << y;
    }
  // V of the first pixel that was pasted.
  EXPECT_EQ(out[16 * 32 + 3 * 32 + 2 + 1], in[32 * 64 + 2 * 64 + 10 + 1]);
  EXPECT_OK(acldvppDestroyRoiConfig(crop));
  EXPECT_OK(acldvppDestroyRoiConfig(paste));
}

TEST_F(Media, ResizesTheSameToTheSame) {
  const Picture from(PIXEL_FORMAT_YUV_SEMIPLANAR_420, 64, 32), to(PIXEL_FORMAT_YUV_SEMIPLANAR_420, 64, 32),
      half(PIXEL_FORMAT_YUV_SEMIPLANAR_420, 32, 16);
  from.write(1);
  acldvppResizeConfig* config = acldvppCreateResizeConfig();
  EXPECT_OK(acldvppVpcResizeAsync(channel, from.desc, to.desc, config, nullptr));
  EXPECT_OK(acldvppSetResizeConfigInterpolation(config, 2));
  EXPECT_OK(acldvppVpcResizeAsync(channel, from.desc, half.desc, config, nullptr));
  finish();
  EXPECT_EQ(to.read(), from.read());
  EXPECT_EQ(half.read()[33], from.read()[2 * 64 + 2]);
  EXPECT_OK(acldvppDestroyResizeConfig(config));
}

TEST_F(Media, ConvertsColoursByTheMatrixOfTheChannel) {
  const Picture rgb(PIXEL_FORMAT_RGB_888, 16, 6), yuv(PIXEL_FORMAT_YUV_SEMIPLANAR_420, 16, 6);
  rgb.write(std::vector<uint8_t>(rgb.size, 255));
  for (const uint32_t matrix : {ACL_DVPP_CSC_MATRIX_BT601_WIDE, ACL_DVPP_CSC_MATRIX_BT709_NARROW}) {
    EXPECT_OK(acldvppSetChannelDescParam(channel, ACL_DVPP_CSC_MATRIX_UINT32, 4, &matrix));
    EXPECT_OK(acldvppVpcConvertColorAsync(channel, rgb.desc, yuv.desc, nullptr));
    finish();
    EXPECT_EQ(yuv.read()[0], matrix == ACL_DVPP_CSC_MATRIX_BT601_WIDE ? 255 : 235);
    EXPECT_EQ(yuv.read()[6 * 16], 128);
  }
  uint32_t got = 0;
  size_t bytes = 0;
  EXPECT_OK(acldvppGetChannelDescParam(channel, ACL_DVPP_CSC_MATRIX_UINT32, 4, &bytes, &got));
  EXPECT_EQ(got, 3U);
}

TEST_F(Media, AddsABorder) {
  const Picture from(PIXEL_FORMAT_YUV_SEMIPLANAR_420, 16, 6), to(PIXEL_FORMAT_YUV_SEMIPLANAR_420, 24, 10);
  from.write(1);
  acldvppBorderConfig* border = acldvppCreateBorderConfig();
  EXPECT_OK(acldvppSetBorderConfigLeft(border, 2));
  EXPECT_OK(acldvppSetBorderConfigRight(border, 6));
  EXPECT_OK(acldvppSetBorderConfigTop(border, 4));
  EXPECT_OK(acldvppSetBorderConfigValue(border, 0, 16));
  EXPECT_OK(acldvppSetBorderConfigValue(border, 2, 99));
  EXPECT_EQ(acldvppGetBorderConfigValue(border, 2), 99);
  EXPECT_OK(acldvppVpcMakeBorderAsync(channel, from.desc, to.desc, border, nullptr));
  finish();
  const std::vector<uint8_t> out = to.read();
  EXPECT_EQ(out[0], 16);
  EXPECT_EQ(out[4 * to.stride + 2], from.read()[0]);
  EXPECT_EQ(out[10 * to.stride + 1], 99);
  EXPECT_OK(acldvppSetBorderConfigRight(border, 5));
  EXPECT_EQ(acldvppVpcMakeBorderAsync(channel, from.desc, to.desc, border, nullptr), 100000);
  EXPECT_OK(acldvppDestroyBorderConfig(border));
}

TEST_F(Media, EncodesAndDecodesJpeg) {
  const Picture from(PIXEL_FORMAT_YUV_SEMIPLANAR_420, 64, 32), to(PIXEL_FORMAT_YUV_SEMIPLANAR_420, 128, 32);
  from.write_smooth();
  acldvppJpegeConfig* config = acldvppCreateJpegeConfig();
  EXPECT_EQ(acldvppGetJpegeConfigLevel(config), 100U);
  uint32_t size = 0, width = 0, height = 0, decoded = 0;
  int32_t components = 0;
  EXPECT_OK(acldvppJpegPredictEncSize(from.desc, config, &size));
  void* file = nullptr;
  ASSERT_OK(acldvppMalloc(&file, size));
  EXPECT_OK(acldvppJpegEncodeAsync(channel, from.desc, file, &size, config, nullptr));
  finish();
  acldvppJpegFormat format = ACL_JPEG_CSS_UNKNOWN;
  EXPECT_OK(acldvppJpegGetImageInfoV2(file, size, &width, &height, &components, &format));
  EXPECT_EQ(width, 64U);
  EXPECT_EQ(height, 32U);
  EXPECT_EQ(components, 3);
  EXPECT_EQ(format, ACL_JPEG_CSS_420);
  width = height = 0;
  EXPECT_OK(acldvppJpegGetImageInfoV2(file, size, &width, &height, nullptr, nullptr));
  EXPECT_OK(acldvppJpegGetImageInfo(file, size, nullptr, nullptr, nullptr));
  EXPECT_EQ(width, 64U);
  EXPECT_EQ(height, 32U);
  EXPECT_OK(acldvppJpegPredictDecSize(file, size, PIXEL_FORMAT_YUV_SEMIPLANAR_420, &decoded));
  EXPECT_EQ(decoded, 128U * 32 * 3 / 2);
  ASSERT_EQ(decoded, to.size);
  for (const auto set : {acldvppSetPicDescWidthStride, acldvppSetPicDescHeightStride}) EXPECT_OK(set(to.desc, 0));
  EXPECT_OK(acldvppJpegDecodeAsync(channel, file, size, to.desc, nullptr));
  finish();
  EXPECT_EQ(acldvppGetPicDescWidth(to.desc), 64U);
  EXPECT_EQ(acldvppGetPicDescWidthStride(to.desc), 128U);
  EXPECT_EQ(acldvppGetPicDescHeightStride(to.desc), 32U);
  const std::vector<uint8_t> in = from.read(), out = to.read();
  for (uint32_t y = 0; y < 48; ++y)  // Y, then U and V in turn
    for (uint32_t x = 0; x < 64; ++x) ASSERT_NEAR(out[y * 128 + x], in[y * 64 + x], 4) << x << ", " << y;
  // Cut short: the task fails, and says so.
  EXPECT_OK(acldvppJpegDecodeAsync(channel, file, size / 2, to.desc, nullptr));
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), 507015);
  EXPECT_NE(std::string(aclGetRecentErrMsg()).find("JPEG"), std::string::npos);
  EXPECT_NE(acldvppGetPicDescRetCode(to.desc), 0U);
  EXPECT_OK(acldvppFree(file));
  EXPECT_OK(acldvppDestroyJpegeConfig(config));
}

TEST_F(Media, ABatchIsAListOfParts) {
  const Picture first(PIXEL_FORMAT_YUV_SEMIPLANAR_420, 32, 16), second(PIXEL_FORMAT_YUV_SEMIPLANAR_420, 32, 16);
  const Picture a(PIXEL_FORMAT_YUV_SEMIPLANAR_420, 16, 8), b(PIXEL_FORMAT_YUV_SEMIPLANAR_420, 16, 8),
      c(PIXEL_FORMAT_YUV_SEMIPLANAR_420, 16, 8);
  first.write(1), second.write(2);
  acldvppBatchPicDesc *in = acldvppCreateBatchPicDesc(2), *out = acldvppCreateBatchPicDesc(3);
  const auto fill = [](acldvppBatchPicDesc* batch, uint32_t i, const Picture& p) {
    acldvppPicDesc* desc = acldvppGetPicDesc(batch, i);
    EXPECT_OK(acldvppSetPicDescData(desc, p.data));
    EXPECT_OK(acldvppSetPicDescSize(desc, p.size));
    EXPECT_OK(acldvppSetPicDescFormat(desc, PIXEL_FORMAT_YUV_SEMIPLANAR_420));
    EXPECT_OK(acldvppSetPicDescWidth(desc, p.width));
    EXPECT_OK(acldvppSetPicDescHeight(desc, p.height));
    EXPECT_OK(acldvppSetPicDescWidthStride(desc, p.stride));
    EXPECT_OK(acldvppSetPicDescHeightStride(desc, p.rows));
  };
  fill(in, 0, first), fill(in, 1, second);
  fill(out, 0, a), fill(out, 1, b), fill(out, 2, c);
  acldvppRoiConfig* areas[] = {acldvppCreateRoiConfig(0, 15, 0, 7), acldvppCreateRoiConfig(16, 31, 8, 15),
                               acldvppCreateRoiConfig(2, 17, 2, 9)};
  uint32_t counts[] = {2, 1};
  EXPECT_OK(acldvppVpcBatchCropAsync(channel, in, counts, 2, out, areas, nullptr));
  finish();
  EXPECT_EQ(a.read()[17], first.read()[33]);
  EXPECT_EQ(b.read()[0], first.read()[8 * 32 + 16]);
  EXPECT_EQ(c.read()[0], second.read()[2 * 32 + 2]);
  acldvppResizeConfig* resize = acldvppCreateResizeConfig();
  acldvppBorderConfig* border = acldvppCreateBorderConfig();
  EXPECT_OK(acldvppSetBorderConfigTop(border, 2));
  EXPECT_OK(acldvppSetBorderConfigValue(border, 0, 7));
  acldvppBorderConfig* borders[] = {border, border, border};
  EXPECT_OK(acldvppVpcBatchCropResizeMakeBorderAsync(channel, in, counts, 2, out, areas, borders, resize, nullptr));
  finish();
  EXPECT_EQ(a.read()[0], 7);
  EXPECT_NE(a.read()[2 * 16], 7);
  counts[0] = 3;
  EXPECT_EQ(acldvppVpcBatchCropAsync(channel, in, counts, 2, out, areas, nullptr), 100000);
  EXPECT_EQ(acldvppGetPicDesc(in, 2), nullptr);
  for (acldvppRoiConfig* area : areas) EXPECT_OK(acldvppDestroyRoiConfig(area));
  EXPECT_OK(acldvppDestroyBorderConfig(border));
  EXPECT_OK(acldvppDestroyResizeConfig(resize));
  EXPECT_OK(acldvppDestroyBatchPicDesc(in));
  EXPECT_OK(acldvppDestroyBatchPicDesc(out));
}

TEST_F(Media, CountsAndLooksUp) {
  const Picture from(PIXEL_FORMAT_YUV_SEMIPLANAR_420, 32, 16), to(PIXEL_FORMAT_YUV_SEMIPLANAR_420, 32, 16),
      half(PIXEL_FORMAT_YUV_SEMIPLANAR_420, 16, 8);
  from.write(1);
  acldvppHist* hist = acldvppCreateHist();
  EXPECT_OK(acldvppVpcCalcHistAsync(channel, from.desc, hist, nullptr, nullptr));
  finish();
  const std::vector<uint8_t> in = from.read();
  uint32_t* counts = nullptr;
  uint16_t length = 0;
  EXPECT_EQ(acldvppGetHistDims(hist), 3U);
  EXPECT_EQ(acldvppGetHistRetCode(hist), 0U);
  for (const uint32_t dim : {0U, 2U}) {
    std::vector<uint32_t> want(256);
    for (uint32_t i = dim == 0 ? 0 : 512 + 1; i < (dim == 0 ? 512U : 768U); i += dim == 0 ? 1 : 2) ++want[in[i]];
    EXPECT_OK(acldvppGetHistData(hist, dim, &counts, &length));
    EXPECT_EQ(std::vector<uint32_t>(counts, counts + length), want);
  }
  EXPECT_EQ(acldvppGetHistData(hist, 3, &counts, &length), 100000);
  acldvppLutMap* map = acldvppCreateLutMap();
  uint8_t* table = nullptr;
  uint32_t size = 0;
  EXPECT_OK(acldvppGetLutMapData(map, 0, &table, &size));
  for (uint32_t v = 0; v < size; ++v) table[v] = static_cast<uint8_t>(255 - v);
  EXPECT_OK(acldvppVpcEqualizeHistAsync(channel, from.desc, to.desc, map, nullptr));
  EXPECT_OK(acldvppVpcPyrDownAsync(channel, from.desc, half.desc, nullptr, nullptr));
  EXPECT_EQ(acldvppVpcPyrDownAsync(channel, from.desc, to.desc, nullptr, nullptr), 100000);
  finish();
  EXPECT_EQ(to.read()[40], 255 - in[40]);
  EXPECT_EQ(to.read()[600], in[600]);
  EXPECT_OK(acldvppClearHist(hist));
  EXPECT_OK(acldvppDestroyHist(hist));
  EXPECT_OK(acldvppDestroyLutMap(map));
  EXPECT_EQ(acldvppDestroyLutMap(map), 100000);
}

TEST_F(Media, RefusesWrongPictures) {
  struct Wrong {
    const char* word;
    std::function<void(acldvppPicDesc*)> change;
  };
  const Wrong cases[] = {
      {"10 x 6", [](acldvppPicDesc* d) { acldvppSetPicDescWidth(d, 8); }},
      {"even", [](acldvppPicDesc* d) { acldvppSetPicDescHeight(d, 15); }},
      {"width stride", [](acldvppPicDesc* d) { acldvppSetPicDescWidthStride(d, 24); }},
      {"width stride", [](acldvppPicDesc* d) { acldvppSetPicDescWidthStride(d, 16); }},
      {"height stride", [](acldvppPicDesc* d) { acldvppSetPicDescHeightStride(d, 14); }},
      {"bytes", [](acldvppPicDesc* d) { acldvppSetPicDescSize(d, 767); }},
      {"pixel format 29", [](acldvppPicDesc* d) { acldvppSetPicDescFormat(d, PIXEL_FORMAT_RGB_555); }},
      {"null", [](acldvppPicDesc* d) { acldvppSetPicDescData(d, nullptr); }},
  };
  const Picture to(PIXEL_FORMAT_YUV_SEMIPLANAR_420, 32, 16);
  for (const Wrong& wrong : cases) {
    const Picture from(PIXEL_FORMAT_YUV_SEMIPLANAR_420, 32, 16);
    wrong.change(from.desc);
    EXPECT_EQ(acldvppVpcConvertColorAsync(channel, from.desc, to.desc, nullptr), 100000) << wrong.word;
    const std::string text = aclGetRecentErrMsg();
    EXPECT_NE(text.find(wrong.word), std::string::npos) << text;
  }
  EXPECT_EQ(acldvppVpcConvertColorAsync(channel, to.desc, to.desc, nullptr), 100000);
  EXPECT_NE(std::string(aclGetRecentErrMsg()).find("overlaps"), std::string::npos);
}

TEST_F(Media, RefusesWrongCalls) {
  const Picture from(PIXEL_FORMAT_YUV_SEMIPLANAR_420, 32, 16), to(PIXEL_FORMAT_YUV_SEMIPLANAR_420, 32, 16);
  acldvppRoiConfig* odd = acldvppCreateRoiConfig(1, 16, 0, 15);
  acldvppRoiConfig* outside = acldvppCreateRoiConfig(0, 33, 0, 15);
  EXPECT_EQ(acldvppVpcCropAsync(channel, from.desc, to.desc, odd, nullptr), 100000);
  EXPECT_EQ(acldvppVpcCropAsync(channel, from.desc, to.desc, outside, nullptr), 100000);
  EXPECT_EQ(acldvppVpcCropAsync(channel, from.desc, to.desc, nullptr, nullptr), 100000);
  EXPECT_OK(acldvppDestroyRoiConfig(odd));
  EXPECT_EQ(acldvppDestroyRoiConfig(odd), 100000);
  EXPECT_EQ(acldvppVpcCropAsync(channel, from.desc, to.desc, odd, nullptr), 100000);
  EXPECT_OK(acldvppDestroyRoiConfig(outside));
  EXPECT_EQ(acldvppCreateRoiConfig(5, 4, 0, 0), nullptr);
  acldvppChannelDesc* closed = acldvppCreateChannelDesc();
  EXPECT_EQ(acldvppVpcConvertColorAsync(closed, from.desc, to.desc, nullptr), 100000);
  EXPECT_EQ(acldvppDestroyChannel(closed), 100000);
  EXPECT_OK(acldvppDestroyChannelDesc(closed));
  EXPECT_EQ(acldvppDestroyChannelDesc(channel), 100000);  // it is open
  EXPECT_EQ(acldvppCreateChannel(channel), 100000);
  EXPECT_EQ(acldvppSetChannelDescMode(channel, 8), 100000);
  EXPECT_EQ(acldvppMalloc(nullptr, 8), 100000);
  EXPECT_EQ(acldvppFree(nullptr), 100000);
  uint32_t width = 0, height = 0;
  int32_t components = 0;
  EXPECT_EQ(acldvppJpegGetImageInfo("no picture at all", 17, &width, &height, &components), 100000);
  EXPECT_EQ(acldvppPngGetImageInfo("no picture at all", 17, &width, &height, &components), 100000);
  EXPECT_EQ(acldvppJpegDecodeAsync(channel, "host", 4, to.desc, nullptr), 100000);
  EXPECT_EQ(acldvppPngDecodeAsync(channel, from.data, 100, to.desc, nullptr), 100000);  // into YUV
  EXPECT_EQ(acldvppGetPicDescData(nullptr), nullptr);
  EXPECT_EQ(aclvdecCreateChannel(nullptr), 207000);
  EXPECT_EQ(aclvencCreateChannelDesc(), nullptr);
}

}  // namespace
}  // namespace npu::acl
