/* SPDX-License-Identifier: Apache-2.0 */
/* Words of acl/ops/acl_dvpp.h. */
#ifndef ANYNPU_ACL_OPS_ACL_DVPP_TYPE_H_
#define ANYNPU_ACL_OPS_ACL_DVPP_TYPE_H_

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** How the bytes of a picture lie. Built are 0 to 17, 1000 and 1001; the others are names only: 100000. */
typedef enum acldvppPixelFormat ANYNPU_ANY_INT {
  PIXEL_FORMAT_YUV_400 = 0,
  PIXEL_FORMAT_YUV_SEMIPLANAR_420 = 1,
  PIXEL_FORMAT_YVU_SEMIPLANAR_420 = 2,
  PIXEL_FORMAT_YUV_SEMIPLANAR_422 = 3,
  PIXEL_FORMAT_YVU_SEMIPLANAR_422 = 4,
  PIXEL_FORMAT_YUV_SEMIPLANAR_444 = 5,
  PIXEL_FORMAT_YVU_SEMIPLANAR_444 = 6,
  PIXEL_FORMAT_YUYV_PACKED_422 = 7,
  PIXEL_FORMAT_UYVY_PACKED_422 = 8,
  PIXEL_FORMAT_YVYU_PACKED_422 = 9,
  PIXEL_FORMAT_VYUY_PACKED_422 = 10,
  PIXEL_FORMAT_YUV_PACKED_444 = 11,
  PIXEL_FORMAT_RGB_888 = 12,
  PIXEL_FORMAT_BGR_888 = 13,
  PIXEL_FORMAT_ARGB_8888 = 14,
  PIXEL_FORMAT_ABGR_8888 = 15,
  PIXEL_FORMAT_RGBA_8888 = 16,
  PIXEL_FORMAT_BGRA_8888 = 17,
  PIXEL_FORMAT_YUV_SEMI_PLANNER_420_10BIT = 18,
  PIXEL_FORMAT_YVU_SEMI_PLANNER_420_10BIT = 19,
  PIXEL_FORMAT_YVU_PLANAR_420 = 20,
  PIXEL_FORMAT_YVU_PLANAR_422 = 21,
  PIXEL_FORMAT_YVU_PLANAR_444 = 22,
  PIXEL_FORMAT_RGB_444 = 23,
  PIXEL_FORMAT_BGR_444 = 24,
  PIXEL_FORMAT_ARGB_4444 = 25,
  PIXEL_FORMAT_ABGR_4444 = 26,
  PIXEL_FORMAT_RGBA_4444 = 27,
  PIXEL_FORMAT_BGRA_4444 = 28,
  PIXEL_FORMAT_RGB_555 = 29,
  PIXEL_FORMAT_BGR_555 = 30,
  PIXEL_FORMAT_RGB_565 = 31,
  PIXEL_FORMAT_BGR_565 = 32,
  PIXEL_FORMAT_ARGB_1555 = 33,
  PIXEL_FORMAT_ABGR_1555 = 34,
  PIXEL_FORMAT_RGBA_1555 = 35,
  PIXEL_FORMAT_BGRA_1555 = 36,
  PIXEL_FORMAT_ARGB_8565 = 37,
  PIXEL_FORMAT_ABGR_8565 = 38,
  PIXEL_FORMAT_RGBA_8565 = 39,
  PIXEL_FORMAT_BGRA_8565 = 40,
  PIXEL_FORMAT_RGB_BAYER_8BPP = 50,
  PIXEL_FORMAT_RGB_BAYER_10BPP = 51,
  PIXEL_FORMAT_RGB_BAYER_12BPP = 52,
  PIXEL_FORMAT_RGB_BAYER_14BPP = 53,
  PIXEL_FORMAT_RGB_BAYER_16BPP = 54,
  PIXEL_FORMAT_BGR_888_PLANAR = 70,
  PIXEL_FORMAT_HSV_888_PACKAGE = 71,
  PIXEL_FORMAT_HSV_888_PLANAR = 72,
  PIXEL_FORMAT_LAB_888_PACKAGE = 73,
  PIXEL_FORMAT_LAB_888_PLANAR = 74,
  PIXEL_FORMAT_S8C1 = 75,
  PIXEL_FORMAT_S8C2_PACKAGE = 76,
  PIXEL_FORMAT_S8C2_PLANAR = 77,
  PIXEL_FORMAT_S16C1 = 78,
  PIXEL_FORMAT_U8C1 = 79,
  PIXEL_FORMAT_U16C1 = 80,
  PIXEL_FORMAT_S32C1 = 81,
  PIXEL_FORMAT_U32C1 = 82,
  PIXEL_FORMAT_U64C1 = 83,
  PIXEL_FORMAT_S64C1 = 84,
  PIXEL_FORMAT_YUV_SEMIPLANAR_440 = 1000,
  PIXEL_FORMAT_YVU_SEMIPLANAR_440 = 1001,
  PIXEL_FORMAT_FLOAT32 = 1002,
  PIXEL_FORMAT_BUTT = 1003,
  PIXEL_FORMAT_UNKNOWN = 10000
} acldvppPixelFormat;

/** Formats of video. */
typedef enum acldvppStreamFormat ANYNPU_ANY_INT {
  H265_MAIN_LEVEL = 0,
  H264_BASELINE_LEVEL = 1,
  H264_MAIN_LEVEL = 2,
  H264_HIGH_LEVEL = 3
} acldvppStreamFormat;

/** What a channel is for. */
typedef enum acldvppChannelMode ANYNPU_ANY_INT {
  DVPP_CHNMODE_VPC = 1,
  DVPP_CHNMODE_JPEGD = 2,
  DVPP_CHNMODE_JPEGE = 4
} acldvppChannelMode;

/** What stands around a picture: a number, its outermost pixels, or its mirror's image with or without them. */
typedef enum acldvppBorderType ANYNPU_ANY_INT {
  BORDER_CONSTANT = 0,
  BORDER_REPLICATE = 1,
  BORDER_REFLECT = 2,
  BORDER_REFLECT_101 = 3
} acldvppBorderType;

/** Parameters of a channel. */
typedef enum acldvppChannelDescParamType ANYNPU_ANY_INT { ACL_DVPP_CSC_MATRIX_UINT32 = 0 } acldvppChannelDescParamType;

/** How YUV is meant: the standard, and whether Y goes from 0 to 255 (WIDE) or from 16 to 235. */
typedef enum acldvppCscMatrix ANYNPU_ANY_INT {
  ACL_DVPP_CSC_MATRIX_BT601_WIDE = 0,
  ACL_DVPP_CSC_MATRIX_BT601_NARROW = 1,
  ACL_DVPP_CSC_MATRIX_BT709_WIDE = 2,
  ACL_DVPP_CSC_MATRIX_BT709_NARROW = 3,
  ACL_DVPP_CSC_MATRIX_BT2020_WIDE = 4,
  ACL_DVPP_CSC_MATRIX_BT2020_NARROW = 5
} acldvppCscMatrix;

/** How pixels of a JPEG file share colours. */
typedef enum acldvppJpegFormat ANYNPU_ANY_INT {
  ACL_JPEG_CSS_444 = 0,
  ACL_JPEG_CSS_422 = 1,
  ACL_JPEG_CSS_420 = 2,
  ACL_JPEG_CSS_GRAY = 3,
  ACL_JPEG_CSS_440 = 4,
  ACL_JPEG_CSS_411 = 5,
  ACL_JPEG_CSS_UNKNOWN = 1000
} acldvppJpegFormat;

/** Objects of the library, made and destroyed by the functions below; 100000 for one that is null or destroyed. */
typedef struct acldvppPicDesc acldvppPicDesc;
typedef struct acldvppBatchPicDesc acldvppBatchPicDesc;
typedef struct acldvppRoiConfig acldvppRoiConfig;
typedef struct acldvppResizeConfig acldvppResizeConfig;
typedef struct acldvppBorderConfig acldvppBorderConfig;
typedef struct acldvppLutMap acldvppLutMap;
typedef struct acldvppChannelDesc acldvppChannelDesc;
typedef struct acldvppJpegeConfig acldvppJpegeConfig;
typedef struct acldvppStreamDesc acldvppStreamDesc;
typedef struct acldvppHist acldvppHist;

#ifdef __cplusplus
}
#endif

#endif  // ANYNPU_ACL_OPS_ACL_DVPP_TYPE_H_
