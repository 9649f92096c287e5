/* SPDX-License-Identifier: Apache-2.0 */
/* Video, decoded and encoded: declared, so that programs can be compiled and linked, and not built. Whatever makes an
 * object answers NULL, all others 207000; decode with FFmpeg or OpenCV on the host, and copy pictures to the device. */
#ifndef ANYNPU_ACL_OPS_ACL_DVPP_VIDEO_H_
#define ANYNPU_ACL_OPS_ACL_DVPP_VIDEO_H_

#include "acl/ops/acl_dvpp_type.h"

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/** Parameters of a decoder. */
typedef enum aclvdecChannelDescParamType ANYNPU_ANY_INT { ACL_VDEC_CSC_MATRIX_UINT32 = 0 } aclvdecChannelDescParamType;

/** Parameters of an encoder. */
typedef enum aclvencChannelDescParamType ANYNPU_ANY_INT {
  ACL_VENC_THREAD_ID_UINT64 = 0,
  ACL_VENC_CALLBACK_PTR = 1,
  ACL_VENC_PIXEL_FORMAT_UINT32 = 2,
  ACL_VENC_ENCODE_TYPE_UINT32 = 3,
  ACL_VENC_PIC_WIDTH_UINT32 = 4,
  ACL_VENC_PIC_HEIGHT_UINT32 = 5,
  ACL_VENC_KEY_FRAME_INTERVAL_UINT32 = 6,
  ACL_VENC_BUF_ADDR_PTR = 7,
  ACL_VENC_BUF_SIZE_UINT32 = 8,
  ACL_VENC_RC_MODE_UINT32 = 9,
  ACL_VENC_SRC_RATE_UINT32 = 10,
  ACL_VENC_MAX_BITRATE_UINT32 = 11,
  ACL_VENC_MAX_IP_PROP_UINT32 = 12
} aclvencChannelDescParamType;

typedef struct aclvdecChannelDesc aclvdecChannelDesc;
typedef struct aclvdecFrameConfig aclvdecFrameConfig;
typedef struct aclvencChannelDesc aclvencChannelDesc;
typedef struct aclvencFrameConfig aclvencFrameConfig;
/** Called with each decoded picture, or encoded frame. */
typedef void (*aclvdecCallback)(acldvppStreamDesc* input, acldvppPicDesc* output, void* userData);
typedef void (*aclvencCallback)(acldvppPicDesc* input, acldvppStreamDesc* output, void* userdata);

/** Decoding. */
aclError aclvdecCreateChannel(aclvdecChannelDesc* channelDesc);
aclvdecChannelDesc* aclvdecCreateChannelDesc(void);
aclvdecFrameConfig* aclvdecCreateFrameConfig(void);
aclError aclvdecDestroyChannel(aclvdecChannelDesc* channelDesc);
aclError aclvdecDestroyChannelDesc(aclvdecChannelDesc* channelDesc);
aclError aclvdecDestroyFrameConfig(aclvdecFrameConfig* vdecFrameConfig);
uint32_t aclvdecGetChannelDescBitDepth(const aclvdecChannelDesc* channelDesc);
aclvdecCallback aclvdecGetChannelDescCallback(const aclvdecChannelDesc* channelDesc);
uint32_t aclvdecGetChannelDescChannelId(const aclvdecChannelDesc* channelDesc);
acldvppStreamFormat aclvdecGetChannelDescEnType(const aclvdecChannelDesc* channelDesc);
uint32_t aclvdecGetChannelDescOutMode(const aclvdecChannelDesc* channelDesc);
acldvppPixelFormat aclvdecGetChannelDescOutPicFormat(const aclvdecChannelDesc* channelDesc);
uint32_t aclvdecGetChannelDescOutPicHeight(const aclvdecChannelDesc* channelDesc);
uint32_t aclvdecGetChannelDescOutPicWidth(const aclvdecChannelDesc* channelDesc);
aclError aclvdecGetChannelDescParam(const aclvdecChannelDesc* channelDesc, aclvdecChannelDescParamType paramType,
                                    size_t length, size_t* paramRetSize, void* param);
uint32_t aclvdecGetChannelDescRefFrameNum(const aclvdecChannelDesc* channelDesc);
uint64_t aclvdecGetChannelDescThreadId(const aclvdecChannelDesc* channelDesc);
aclError aclvdecSendFrame(aclvdecChannelDesc* channelDesc, acldvppStreamDesc* input, acldvppPicDesc* output,
                          aclvdecFrameConfig* config, void* userData);
aclError aclvdecSendSkippedFrame(aclvdecChannelDesc* channelDesc, acldvppStreamDesc* input, aclvdecFrameConfig* config,
                                 void* userData);
aclError aclvdecSetChannelDescBitDepth(aclvdecChannelDesc* channelDesc, uint32_t bitDepth);
aclError aclvdecSetChannelDescCallback(aclvdecChannelDesc* channelDesc, aclvdecCallback callback);
aclError aclvdecSetChannelDescChannelId(aclvdecChannelDesc* channelDesc, uint32_t channelId);
aclError aclvdecSetChannelDescEnType(aclvdecChannelDesc* channelDesc, acldvppStreamFormat enType);
aclError aclvdecSetChannelDescOutMode(aclvdecChannelDesc* channelDesc, uint32_t outMode);
aclError aclvdecSetChannelDescOutPicFormat(aclvdecChannelDesc* channelDesc, acldvppPixelFormat outPicFormat);
aclError aclvdecSetChannelDescOutPicHeight(aclvdecChannelDesc* channelDesc, uint32_t outPicHeight);
aclError aclvdecSetChannelDescOutPicWidth(aclvdecChannelDesc* channelDesc, uint32_t outPicWidth);
aclError aclvdecSetChannelDescParam(aclvdecChannelDesc* channelDesc, aclvdecChannelDescParamType paramType,
                                    size_t length, const void* param);
aclError aclvdecSetChannelDescRefFrameNum(aclvdecChannelDesc* channelDesc, uint32_t refFrameNum);
aclError aclvdecSetChannelDescThreadId(aclvdecChannelDesc* channelDesc, uint64_t threadId);

/** Encoding. */
aclError aclvencCreateChannel(aclvencChannelDesc* channelDesc);
aclvencChannelDesc* aclvencCreateChannelDesc(void);
aclvencFrameConfig* aclvencCreateFrameConfig(void);
aclError aclvencDestroyChannel(aclvencChannelDesc* channelDesc);
aclError aclvencDestroyChannelDesc(aclvencChannelDesc* channelDesc);
aclError aclvencDestroyFrameConfig(aclvencFrameConfig* config);
void* aclvencGetChannelDescBufAddr(const aclvencChannelDesc* channelDesc);
uint32_t aclvencGetChannelDescBufSize(const aclvencChannelDesc* channelDesc);
aclvencCallback aclvencGetChannelDescCallback(const aclvencChannelDesc* channelDesc);
uint32_t aclvencGetChannelDescChannelId(const aclvencChannelDesc* channelDesc);
acldvppStreamFormat aclvencGetChannelDescEnType(const aclvencChannelDesc* channelDesc);
uint32_t aclvencGetChannelDescKeyFrameInterval(const aclvencChannelDesc* channelDesc);
uint32_t aclvencGetChannelDescMaxBitRate(const aclvencChannelDesc* channelDesc);
aclError aclvencGetChannelDescParam(const aclvencChannelDesc* channelDesc, aclvencChannelDescParamType paramType,
                                    size_t length, size_t* paramRetSize, void* param);
acldvppPixelFormat aclvencGetChannelDescPicFormat(const aclvencChannelDesc* channelDesc);
uint32_t aclvencGetChannelDescPicHeight(const aclvencChannelDesc* channelDesc);
uint32_t aclvencGetChannelDescPicWidth(const aclvencChannelDesc* channelDesc);
uint32_t aclvencGetChannelDescRcMode(const aclvencChannelDesc* channelDesc);
uint32_t aclvencGetChannelDescSrcRate(const aclvencChannelDesc* channelDesc);
uint64_t aclvencGetChannelDescThreadId(const aclvencChannelDesc* channelDesc);
uint8_t aclvencGetFrameConfigEos(const aclvencFrameConfig* config);
uint8_t aclvencGetFrameConfigForceIFrame(const aclvencFrameConfig* config);
aclError aclvencSendFrame(aclvencChannelDesc* channelDesc, acldvppPicDesc* input, void* reserve,
                          aclvencFrameConfig* config, void* userdata);
aclError aclvencSetChannelDescBufAddr(aclvencChannelDesc* channelDesc, void* bufAddr);
aclError aclvencSetChannelDescBufSize(aclvencChannelDesc* channelDesc, uint32_t bufSize);
aclError aclvencSetChannelDescCallback(aclvencChannelDesc* channelDesc, aclvencCallback callback);
aclError aclvencSetChannelDescEnType(aclvencChannelDesc* channelDesc, acldvppStreamFormat enType);
aclError aclvencSetChannelDescKeyFrameInterval(aclvencChannelDesc* channelDesc, uint32_t keyFrameInterval);
aclError aclvencSetChannelDescMaxBitRate(aclvencChannelDesc* channelDesc, uint32_t maxBitRate);
aclError aclvencSetChannelDescParam(aclvencChannelDesc* channelDesc, aclvencChannelDescParamType paramType,
                                    size_t length, const void* param);
aclError aclvencSetChannelDescPicFormat(aclvencChannelDesc* channelDesc, acldvppPixelFormat picFormat);
aclError aclvencSetChannelDescPicHeight(aclvencChannelDesc* channelDesc, uint32_t picHeight);
aclError aclvencSetChannelDescPicWidth(aclvencChannelDesc* channelDesc, uint32_t picWidth);
aclError aclvencSetChannelDescRcMode(aclvencChannelDesc* channelDesc, uint32_t rcMode);
aclError aclvencSetChannelDescSrcRate(aclvencChannelDesc* channelDesc, uint32_t srcRate);
aclError aclvencSetChannelDescThreadId(aclvencChannelDesc* channelDesc, uint64_t threadId);
aclError aclvencSetFrameConfigEos(aclvencFrameConfig* config, uint8_t eos);
aclError aclvencSetFrameConfigForceIFrame(aclvencFrameConfig* config, uint8_t forceIFrame);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif  // ANYNPU_ACL_OPS_ACL_DVPP_VIDEO_H_
