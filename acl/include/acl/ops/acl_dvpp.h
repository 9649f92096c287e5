/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures: resized, cut out, converted (VPC), and read from and written to files (JPEGD, JPEGE, PNGD).
 *
 * Pictures have 10 x 6 to 8192 x 8192 pixels; the width is even where pixels side by side share colours, the height
 * where those above each other do. The width stride is a multiple of 16 bytes and not less than a row has, the height
 * stride is even and not less than the height. Unless told otherwise, functions answer 100000 for a null or destroyed
 * object, sizes and strides against these rules, a format that is not built, memory that is too small by its
 * description, input and output that overlap; 107000 for memory that is not there. */
#ifndef ANYNPU_ACL_OPS_ACL_DVPP_H_
#define ANYNPU_ACL_OPS_ACL_DVPP_H_

#include "acl/acl_base.h"
#include "acl/ops/acl_dvpp_type.h"
#include "acl/ops/acl_dvpp_video.h"

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/** Device memory for pictures and files, as aclrtMalloc and aclrtFree give and take it. 100000 for a size of 0. */
aclError acldvppMalloc(void** devPtr, size_t size);
aclError acldvppFree(void* devPtr);

/** A channel, which every function below asks for: described, then opened. `mode` is any of the bits of
 * acldvppChannelMode and changes nothing here. The matrix of colours (ACL_DVPP_CSC_MATRIX_UINT32, a uint32_t of
 * acldvppCscMatrix) is that of all conversions through the channel; the default is BT.601 wide. 100000 for a channel
 * that is open already, or is closed and not open; a parameter of another length. The number is 0 before it is open. */
acldvppChannelDesc* acldvppCreateChannelDesc(void);
aclError acldvppDestroyChannelDesc(acldvppChannelDesc* channelDesc);
aclError acldvppSetChannelDescMode(acldvppChannelDesc* channelDesc, uint32_t mode);
aclError acldvppSetChannelDescParam(acldvppChannelDesc* channelDesc, acldvppChannelDescParamType paramType,
                                    size_t length, const void* param);
aclError acldvppGetChannelDescParam(const acldvppChannelDesc* channelDesc, acldvppChannelDescParamType paramType,
                                    size_t length, size_t* paramRetSize, void* param);
uint64_t acldvppGetChannelDescChannelId(const acldvppChannelDesc* channelDesc);
aclError acldvppCreateChannel(acldvppChannelDesc* channelDesc);
aclError acldvppDestroyChannel(acldvppChannelDesc* channelDesc);

/** A picture: memory, its bytes, format, sizes in pixels, and strides: bytes from row to row, and rows before the next
 * plane. Getters answer NULL, PIXEL_FORMAT_UNKNOWN or 0 for nothing. A batch holds pictures of its own, which end with
 * it. */
acldvppPicDesc* acldvppCreatePicDesc(void);
aclError acldvppDestroyPicDesc(acldvppPicDesc* picDesc);
aclError acldvppSetPicDescData(acldvppPicDesc* picDesc, void* dataDev);
aclError acldvppSetPicDescFormat(acldvppPicDesc* picDesc, acldvppPixelFormat format);
aclError acldvppSetPicDescHeight(acldvppPicDesc* picDesc, uint32_t height);
aclError acldvppSetPicDescHeightStride(acldvppPicDesc* picDesc, uint32_t heightStride);
aclError acldvppSetPicDescRetCode(acldvppPicDesc* picDesc, uint32_t retCode);
aclError acldvppSetPicDescSize(acldvppPicDesc* picDesc, uint32_t size);
aclError acldvppSetPicDescWidth(acldvppPicDesc* picDesc, uint32_t width);
aclError acldvppSetPicDescWidthStride(acldvppPicDesc* picDesc, uint32_t widthStride);
void* acldvppGetPicDescData(const acldvppPicDesc* picDesc);
acldvppPixelFormat acldvppGetPicDescFormat(const acldvppPicDesc* picDesc);
uint32_t acldvppGetPicDescHeight(const acldvppPicDesc* picDesc);
uint32_t acldvppGetPicDescHeightStride(const acldvppPicDesc* picDesc);
uint32_t acldvppGetPicDescRetCode(const acldvppPicDesc* picDesc);
uint32_t acldvppGetPicDescSize(const acldvppPicDesc* picDesc);
uint32_t acldvppGetPicDescWidth(const acldvppPicDesc* picDesc);
uint32_t acldvppGetPicDescWidthStride(const acldvppPicDesc* picDesc);
acldvppBatchPicDesc* acldvppCreateBatchPicDesc(uint32_t batchSize);
acldvppPicDesc* acldvppGetPicDesc(acldvppBatchPicDesc* batchPicDesc, uint32_t index);
aclError acldvppDestroyBatchPicDesc(acldvppBatchPicDesc* batchPicDesc);

/** A part of a picture: the pixels from `left` to `right` and `top` to `bottom`, all four included. Where pixels share
 * colours the first is even and the last odd. */
acldvppRoiConfig* acldvppCreateRoiConfig(uint32_t left, uint32_t right, uint32_t top, uint32_t bottom);
aclError acldvppDestroyRoiConfig(acldvppRoiConfig* roiConfig);
aclError acldvppSetRoiConfig(acldvppRoiConfig* config, uint32_t left, uint32_t right, uint32_t top, uint32_t bottom);
aclError acldvppSetRoiConfigBottom(acldvppRoiConfig* config, uint32_t bottom);
aclError acldvppSetRoiConfigLeft(acldvppRoiConfig* config, uint32_t left);
aclError acldvppSetRoiConfigRight(acldvppRoiConfig* config, uint32_t right);
aclError acldvppSetRoiConfigTop(acldvppRoiConfig* config, uint32_t top);

/** How pictures are resized: 0 (the default) and 1 take two pixels each way by their distance, 2 takes the nearest. */
acldvppResizeConfig* acldvppCreateResizeConfig(void);
aclError acldvppDestroyResizeConfig(acldvppResizeConfig* resizeConfig);
aclError acldvppSetResizeConfigInterpolation(acldvppResizeConfig* resizeConfig, uint32_t interpolation);
uint32_t acldvppGetResizeConfigInterpolation(const acldvppResizeConfig* resizeConfig);

/** What is added around a picture: pixels on each side, and their values by channel (index 0 to 3) for BORDER_CONSTANT.
 */
acldvppBorderConfig* acldvppCreateBorderConfig(void);
aclError acldvppDestroyBorderConfig(acldvppBorderConfig* borderConfig);
aclError acldvppSetBorderConfigBorderType(acldvppBorderConfig* borderConfig, acldvppBorderType borderType);
aclError acldvppSetBorderConfigBottom(acldvppBorderConfig* borderConfig, uint32_t bottom);
aclError acldvppSetBorderConfigLeft(acldvppBorderConfig* borderConfig, uint32_t left);
aclError acldvppSetBorderConfigRight(acldvppBorderConfig* borderConfig, uint32_t right);
aclError acldvppSetBorderConfigTop(acldvppBorderConfig* borderConfig, uint32_t top);
aclError acldvppSetBorderConfigValue(acldvppBorderConfig* borderConfig, uint32_t index, double value);
acldvppBorderType acldvppGetBorderConfigBorderType(const acldvppBorderConfig* borderConfig);
uint32_t acldvppGetBorderConfigBottom(const acldvppBorderConfig* borderConfig);
uint32_t acldvppGetBorderConfigLeft(const acldvppBorderConfig* borderConfig);
uint32_t acldvppGetBorderConfigRight(const acldvppBorderConfig* borderConfig);
uint32_t acldvppGetBorderConfigTop(const acldvppBorderConfig* borderConfig);
double acldvppGetBorderConfigValue(const acldvppBorderConfig* borderConfig, uint32_t index);

/** Quality of a file: 1 (small) to 100, the default. 0 stands for 100. */
acldvppJpegeConfig* acldvppCreateJpegeConfig(void);
aclError acldvppDestroyJpegeConfig(acldvppJpegeConfig* jpegeConfig);
aclError acldvppSetJpegeConfigLevel(acldvppJpegeConfig* jpegeConfig, uint32_t level);
uint32_t acldvppGetJpegeConfigLevel(const acldvppJpegeConfig* jpegeConfig);

/** Queue work on `stream`; descriptions are copied and may go, memory must live. Results fill the whole output, in its
 * format and size: all eight convert and resize as that asks for, `cropArea` says which part of the input is shown,
 * `pasteArea` which part of the output is filled (the rest stays). MakeBorder adds a border to a picture of the same
 * format; the output has the sizes of both together. The Batch functions do that for a list: roiNums[i] parts of
 * picture i, `size` pictures in all, make one output each, in order. */
aclError acldvppVpcResizeAsync(acldvppChannelDesc* channelDesc, acldvppPicDesc* inputDesc, acldvppPicDesc* outputDesc,
                               acldvppResizeConfig* resizeConfig, aclrtStream stream);
aclError acldvppVpcCropAsync(acldvppChannelDesc* channelDesc, acldvppPicDesc* inputDesc, acldvppPicDesc* outputDesc,
                             acldvppRoiConfig* cropArea, aclrtStream stream);
aclError acldvppVpcCropResizeAsync(acldvppChannelDesc* channelDesc, acldvppPicDesc* inputDesc,
                                   acldvppPicDesc* outputDesc, acldvppRoiConfig* cropArea,
                                   acldvppResizeConfig* resizeConfig, aclrtStream stream);
aclError acldvppVpcCropAndPasteAsync(acldvppChannelDesc* channelDesc, acldvppPicDesc* inputDesc,
                                     acldvppPicDesc* outputDesc, acldvppRoiConfig* cropArea,
                                     acldvppRoiConfig* pasteArea, aclrtStream stream);
aclError acldvppVpcCropResizePasteAsync(acldvppChannelDesc* channelDesc, acldvppPicDesc* inputDesc,
                                        acldvppPicDesc* outputDesc, acldvppRoiConfig* cropArea,
                                        acldvppRoiConfig* pasteArea, acldvppResizeConfig* resizeConfig,
                                        aclrtStream stream);
aclError acldvppVpcConvertColorAsync(acldvppChannelDesc* channelDesc, acldvppPicDesc* inputDesc,
                                     acldvppPicDesc* outputDesc, aclrtStream stream);
aclError acldvppVpcMakeBorderAsync(const acldvppChannelDesc* channelDesc, const acldvppPicDesc* inputDesc,
                                   acldvppPicDesc* outputDesc, const acldvppBorderConfig* borderConfig,
                                   aclrtStream stream);
aclError acldvppVpcBatchCropAndPasteAsync(acldvppChannelDesc* channelDesc, acldvppBatchPicDesc* srcBatchPicDescs,
                                          uint32_t* roiNums, uint32_t size, acldvppBatchPicDesc* dstBatchPicDescs,
                                          acldvppRoiConfig* cropAreas[], acldvppRoiConfig* pasteAreas[],
                                          aclrtStream stream);
aclError acldvppVpcBatchCropAsync(acldvppChannelDesc* channelDesc, acldvppBatchPicDesc* srcBatchPicDescs,
                                  uint32_t* roiNums, uint32_t size, acldvppBatchPicDesc* dstBatchPicDescs,
                                  acldvppRoiConfig* cropAreas[], aclrtStream stream);
aclError acldvppVpcBatchCropResizeAsync(acldvppChannelDesc* channelDesc, acldvppBatchPicDesc* srcBatchPicDescs,
                                        uint32_t* roiNums, uint32_t size, acldvppBatchPicDesc* dstBatchPicDescs,
                                        acldvppRoiConfig* cropAreas[], acldvppResizeConfig* resizeConfig,
                                        aclrtStream stream);
aclError acldvppVpcBatchCropResizeMakeBorderAsync(acldvppChannelDesc* channelDesc,
                                                  acldvppBatchPicDesc* srcBatchPicDescs, uint32_t* roiNums,
                                                  uint32_t size, acldvppBatchPicDesc* dstBatchPicDescs,
                                                  acldvppRoiConfig* cropAreas[], acldvppBorderConfig* borderCfgs[],
                                                  acldvppResizeConfig* resizeConfig, aclrtStream stream);
aclError acldvppVpcBatchCropResizePasteAsync(acldvppChannelDesc* channelDesc, acldvppBatchPicDesc* srcBatchPicDescs,
                                             uint32_t* roiNums, uint32_t size, acldvppBatchPicDesc* dstBatchPicDescs,
                                             acldvppRoiConfig* cropAreas[], acldvppRoiConfig* pasteAreas[],
                                             acldvppResizeConfig* resizeConfig, aclrtStream stream);

/** What the head of a JPEG file says; `data` is host or device memory. `components` is 1 for gray, 3 for colours. Each
 * result may be null: it is not wanted then. */
aclError acldvppJpegGetImageInfo(const void* data, uint32_t size, uint32_t* width, uint32_t* height,
                                 int32_t* components);
aclError acldvppJpegGetImageInfoV2(const void* data, uint32_t size, uint32_t* width, uint32_t* height,
                                   int32_t* components, acldvppJpegFormat* format);

/** Bytes for the decoded picture, with the strides that decoding sets. */
aclError acldvppJpegPredictDecSize(const void* data, uint32_t dataSize, acldvppPixelFormat outputPixelFormat,
                                   uint32_t* decSize);

/** Decodes a file in device memory. Of the output, memory and bytes are given, and the format, or PIXEL_FORMAT_UNKNOWN
 * for the file's own sampling with V before U; sizes and strides may be: without them the width stride is a multiple of
 * 128 (of pixels), the height stride one of 16. When the stream is synchronised, the description says what they are.
 * Files may be progressive, as on no device. A file that is damaged, or does not fit, fails the task: 507015. */
aclError acldvppJpegDecodeAsync(acldvppChannelDesc* channelDesc, const void* data, uint32_t size,
                                acldvppPicDesc* outputDesc, aclrtStream stream);

/** Encodes a picture of any format as a baseline file, colours shared by 2 x 2 pixels, into device memory of *size
 * bytes; when the stream is synchronised, *size is that of the file. PredictEncSize gives a size that suffices. */
aclError acldvppJpegEncodeAsync(acldvppChannelDesc* channelDesc, acldvppPicDesc* inputDesc, const void* data,
                                uint32_t* size, acldvppJpegeConfig* config, aclrtStream stream);
aclError acldvppJpegPredictEncSize(const acldvppPicDesc* inputDesc, const acldvppJpegeConfig* config, uint32_t* size);

/** The same for PNG files; the output is RGB888 or RGBA8888, or PIXEL_FORMAT_UNKNOWN: with alpha where the file has it.
 * `components` is 1 for gray, 2 with alpha, 3 for colours, 4 with alpha. */
aclError acldvppPngGetImageInfo(const void* data, uint32_t dataSize, uint32_t* width, uint32_t* height,
                                int32_t* components);
aclError acldvppPngPredictDecSize(const void* data, uint32_t dataSize, acldvppPixelFormat outputPixelFormat,
                                  uint32_t* decSize);
aclError acldvppPngDecodeAsync(acldvppChannelDesc* channelDesc, const void* data, uint32_t size,
                               acldvppPicDesc* outputDesc, aclrtStream stream);

/** How often each value stands in each channel (Y, U, V or R, G, B; 1 of gray). GetHistData gives the 256 counts, which
 * end with the object; `reserve` is NULL. */
aclError acldvppClearHist(acldvppHist* hist);
acldvppHist* acldvppCreateHist(void);
aclError acldvppDestroyHist(acldvppHist* hist);
aclError acldvppGetHistData(acldvppHist* hist, uint32_t dim, uint32_t** data, uint16_t* len);
uint32_t acldvppGetHistDims(acldvppHist* hist);
uint32_t acldvppGetHistRetCode(acldvppHist* hist);
aclError acldvppVpcCalcHistAsync(acldvppChannelDesc* channelDesc, acldvppPicDesc* srcPicDesc, acldvppHist* hist,
                                 void* reserve, aclrtStream stream);

/** What becomes of each value of each of 3 channels: GetLutMapData gives 256 bytes, which are the values themselves at
 * first, to be written. EqualizeHist looks up a picture; input and output have one format and size. */
acldvppLutMap* acldvppCreateLutMap(void);
aclError acldvppDestroyLutMap(acldvppLutMap* lutMap);
aclError acldvppGetLutMapData(const acldvppLutMap* lutMap, uint32_t dim, uint8_t** data, uint32_t* len);
uint32_t acldvppGetLutMapDims(const acldvppLutMap* lutMap);
aclError acldvppVpcEqualizeHistAsync(const acldvppChannelDesc* channelDesc, const acldvppPicDesc* inputDesc,
                                     acldvppPicDesc* outputDesc, const acldvppLutMap* lutMap, aclrtStream stream);

/** A picture of half the width and height, smoothed by 1 4 6 4 1 both ways, mirrored at its edges. */
aclError acldvppVpcPyrDownAsync(acldvppChannelDesc* channelDesc, acldvppPicDesc* inputDesc, acldvppPicDesc* outputDesc,
                                void* reserve, aclrtStream stream);

/** Streams of video, for acl/ops/acl_dvpp_video.h: not built, 207000 or NULL. */
acldvppStreamDesc* acldvppCreateStreamDesc(void);
aclError acldvppDestroyStreamDesc(acldvppStreamDesc* streamDesc);
void* acldvppGetStreamDescData(const acldvppStreamDesc* streamDesc);
uint8_t acldvppGetStreamDescEos(const acldvppStreamDesc* streamDesc);
acldvppStreamFormat acldvppGetStreamDescFormat(const acldvppStreamDesc* streamDesc);
uint32_t acldvppGetStreamDescRetCode(const acldvppStreamDesc* streamDesc);
uint32_t acldvppGetStreamDescSize(const acldvppStreamDesc* streamDesc);
uint64_t acldvppGetStreamDescTimestamp(const acldvppStreamDesc* streamDesc);
aclError acldvppSetStreamDescData(acldvppStreamDesc* streamDesc, void* dataDev);
aclError acldvppSetStreamDescEos(acldvppStreamDesc* streamDesc, uint8_t eos);
aclError acldvppSetStreamDescFormat(acldvppStreamDesc* streamDesc, acldvppStreamFormat format);
aclError acldvppSetStreamDescRetCode(acldvppStreamDesc* streamDesc, uint32_t retCode);
aclError acldvppSetStreamDescSize(acldvppStreamDesc* streamDesc, uint32_t size);
aclError acldvppSetStreamDescTimestamp(acldvppStreamDesc* streamDesc, uint64_t timestamp);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif  // ANYNPU_ACL_OPS_ACL_DVPP_H_
