// SPDX-License-Identifier: Apache-2.0
// JPEG files to pictures and back, over libjpeg-turbo.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "ops/picture/transform.h"

namespace npu::ops {

/// How colours of a file are shared by pixels.
enum class JpegSampling : int32_t { k444 = 0, k422 = 1, k420 = 2, kGray = 3, k440 = 4, k411 = 5, kOther = 1000 };

struct JpegInfo {
  int64_t width = 0, height = 0;
  int channels = 0;
  JpegSampling sampling = JpegSampling::kOther;
};

/// What the head of a file says. Raises 161002 with the decoder's reason for what is no JPEG.
JpegInfo jpeg_info(std::span<const std::byte> file);

/// Decodes a file of one or three channels. `target` is called once with what the head says, before any pixel is there,
/// and gives the picture to fill; it may raise. Where the picture has the file's colours and sampling, its bytes are
/// the decoder's. Raises 161002 for a file that is damaged, cut short, or has other channels.
void decode_jpeg(std::span<const std::byte> file, const std::function<PictureView(const JpegInfo&)>& target,
                 const TransformRule& rule);

/// Bytes that no file of such a picture is longer than.
int64_t jpeg_bound(int64_t width, int64_t height);

/// A baseline file, with colours shared by 2 x 2 pixels, or gray; quality 1 (small) to 100.
std::vector<std::byte> encode_jpeg(const PictureView& picture, int quality, const TransformRule& rule);

}  // namespace npu::ops
