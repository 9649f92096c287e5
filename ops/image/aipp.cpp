// SPDX-License-Identifier: Apache-2.0
// Pictures of bytes become the numbers that a model takes, in the order that the vendor documents: channels swapped, a
// part cut out, colours changed by a matrix of 256ths and clamped to 0 … 255; (x - mean - min) * scale in fp16, rounded
// after each step; a border around it. A model that takes float32 gets those halves, widened.
#include <algorithm>
#include <cstring>
#include <vector>

#include "base/half.h"
#include "base/thread_pool.h"
#include "ops/image/aipp_block.h"
#include "ops/image/aipp_kernel.h"
#include "ops/operator.h"
#include "ops/scratch.h"

namespace npu::ops {
namespace {

constexpr int64_t kChannels = 4, kBytes = 256;
constexpr int32_t kMostPixels = 1 << 16;  ///< along an edge: products of sizes then stay far from 64 bits

/// What every byte of one picture's channels becomes.
struct Numbers {
  Half halves[kChannels][kBytes];
  float floats[kChannels][kBytes];  ///< the same
  explicit Numbers(const AippPicture& picture) {
    for (int64_t c = 0; c < kChannels; ++c) {
      const float mean = picture.mean[c], min = Half::to_float(picture.min[c]);
      const float scale = Half::to_float(picture.scale[c]);
      for (int64_t x = 0; x < kBytes; ++x) {
        const float centred = Half(static_cast<float>(x) - mean);  // exact: both are small integers
        halves[c][x] = Half(static_cast<float>(Half(centred - min)) * scale);
        floats[c][x] = halves[c][x];
      }
    }
  }
};

void check_crop(const AippHead& head, const AippPicture& p) {
  const int64_t right = int64_t{p.left} + p.width, bottom = int64_t{p.top} + p.height;
  require(p.left >= 0 && p.top >= 0 && p.width > 0 && p.height > 0 && right <= head.width && bottom <= head.height,
          "the crop {} x {} at ({}, {}) is not within the picture of {} x {}; give a part of it", p.width, p.height,
          p.left, p.top, head.width, head.height);
  require(head.format != PictureFormat::kYuv420 || (p.left % 2 == 0 && p.top % 2 == 0),
          "the crop begins at ({}, {}); in YUV420SP_U8 both must be even, as U and V are shared by 2 x 2 pixels",
          p.left, p.top);
}

void check_head(const AippHead& head) {
  const auto format = static_cast<int>(head.format);
  require(format >= 1 && format <= 4,
          "the input format is {}; built are 1 (YUV420SP_U8), 2 (XRGB8888_U8), 3 (RGB888_U8) and 4 (YUV400_U8)",
          format);
  require(head.width > 0 && head.height > 0 && head.width <= kMostPixels && head.height <= kMostPixels,
          "the source is {} x {}; both lie between 1 and {}", head.width, head.height, kMostPixels);
  require(head.format != PictureFormat::kYuv420 || (head.width % 2 == 0 && head.height % 2 == 0),
          "the source is {} x {}; both must be even for YUV420SP_U8", head.width, head.height);
  require(!head.converts || head.format != PictureFormat::kGray,
          "colours of YUV400_U8 cannot be converted: it has none; turn csc_switch off");
}

/// One picture's part: checked, all numbers set, of a picture of the head's size.
AippPicture checked(const AippHead& head, AippPicture p, const Tensor& out) {
  require(!p.resizes && !p.turns, "resizing and turning in AIPP are not built; resize pictures before");
  require(p.pads == 0 || p.pads == 1, "the padding's kind is {}; built are 0 (none) and 1 (a number)", p.pads);
  if (!p.crops) p.left = p.top = 0, p.width = head.width, p.height = head.height;
  if (!p.pads) p.pad_top = p.pad_bottom = p.pad_left = p.pad_right = 0;
  check_crop(head, p);
  require(p.pad_top >= 0 && p.pad_bottom >= 0 && p.pad_left >= 0 && p.pad_right >= 0,
          "the padding is {}, {}, {}, {}; it must not be negative", p.pad_top, p.pad_bottom, p.pad_left, p.pad_right);
  const int64_t width = int64_t{p.width} + p.pad_left + p.pad_right;
  const int64_t height = int64_t{p.height} + p.pad_top + p.pad_bottom;
  require(width == out.shape[3] && height == out.shape[2],
          "AIPP makes {} x {} (width x height) of a picture, the model takes {} x {}; change the crop or the padding",
          width, height, out.shape[3], out.shape[2]);
  return p;
}

/// A block of parameters, read and checked against what there is and what is wanted.
struct Rule {
  AippHead head;
  std::vector<AippPicture> pictures;
  std::vector<Numbers> numbers;  ///< one for each of them

  Rule() = default;
  Rule(const std::byte* block, int64_t bytes, const Tensor& images, const Tensor& out) {
    require(bytes >= static_cast<int64_t>(sizeof(AippHead) + sizeof(AippPicture)),
            "the parameters of AIPP are {} bytes; they have at least {}", bytes,
            sizeof(AippHead) + sizeof(AippPicture));
    std::memcpy(&head, block, sizeof(head));
    check_head(head);
    const int64_t count = head.pictures, wanted = out.shape[0];
    require(count > 0 && bytes >= static_cast<int64_t>(sizeof(AippHead)) + count * int64_t{sizeof(AippPicture)},
            "the parameters of AIPP are {} bytes and say that they are for {} pictures", bytes, count);
    require(count == 1 || count >= wanted, "there are parameters for {} pictures, the model takes {}", count, wanted);
    check_images(images, out);
    for (int64_t i = 0; i < std::min(count, std::max<int64_t>(wanted, 1)); ++i) {
      AippPicture picture;
      std::memcpy(&picture, block + sizeof(head) + static_cast<size_t>(i) * sizeof(picture), sizeof(picture));
      pictures.push_back(checked(head, picture, out));
      numbers.emplace_back(pictures.back());
    }
  }
  void check_images(const Tensor& images, const Tensor& out) const {
    const int64_t bytes = out.shape[0] * picture_bytes(head.format, head.width, head.height);
    require(images.count() >= bytes, "the pictures are {} bytes; {} of {} x {} in this format have {}", images.count(),
            out.shape[0], head.width, head.height, bytes);
    require(out.shape[1] <= channels_of(head.format),
            "the model takes {} channels, the pictures have {}; choose another input_format", out.shape[1],
            channels_of(head.format));
  }
  size_t part_of(int64_t picture) const { return pictures.size() == 1 ? 0 : static_cast<size_t>(picture); }
};

template <class T>
const T* numbers_of(const Numbers& numbers, int64_t channel) {
  if constexpr (std::is_same_v<T, Half>)
    return numbers.halves[channel];
  else
    return numbers.floats[channel];
}

template <class T>
void write_row(const T* numbers, const uint8_t* bytes, int64_t count, T* to, int64_t stride) {
  for (int64_t x = 0; x < count; ++x) to[x * stride] = numbers[bytes[x]];
}

template <class T>
void fill_row(T* to, int64_t stride, int64_t begin, int64_t end, T value) {
  for (int64_t x = begin; x < end; ++x) to[x * stride] = value;
}

struct Aipp final : Operator {
  Tensor images, parameters, out;
  std::string block;
  double padding_value = 0;

  void prepare() override {
    require(out.rank() == 4 && (out.dtype == DType::kHalf || out.dtype == DType::kFloat),
            "AIPP makes {}; a model's pictures are [N, C, H, W] of float16 or float32", out);
    require(images.dtype == DType::kUInt8 && images.contiguous(), "the pictures are {}; they must be bytes in a row",
            images);
    require(block.empty() == parameters.defined(), "AIPP takes its rule from an attribute or from memory: give one");
    if (!block.empty()) rule_ = Rule(reinterpret_cast<const std::byte*>(block.data()), bytes(block), images, out);
    if (parameters.defined())
      require(parameters.dtype == DType::kUInt8 && parameters.contiguous(),
              "the parameters of AIPP are {}; they must be bytes in a row", parameters);
  }
  void run() override {
    // What memory says is known, and can be wrong, only now.
    if (parameters.defined()) rule_ = Rule(parameters.bytes(), parameters.count(), images, out);
    const int64_t rows = out.shape[0] * out.shape[2], row = std::max<int64_t>(1, out.shape[3] * out.shape[1]);
    parallel_for(rows, std::max<int64_t>(1, 32768 / row), [this](int64_t begin, int64_t end) {
      const Scratch<uint8_t> planes(kChannels * rule_.head.width);
      for (int64_t at = begin; at < end; ++at)
        out.dtype == DType::kHalf ? run_row<Half>(at, planes) : run_row<float>(at, planes);
    });
  }
  int64_t cost() const override { return 500 + 2 * out.count(); }

 private:
  static int64_t bytes(const std::string& text) { return static_cast<int64_t>(text.size()); }

  template <class T>
  void run_row(int64_t at, uint8_t* planes) const {
    const int64_t image = at / out.shape[2], y = at % out.shape[2];
    const AippPicture& p = rule_.pictures[rule_.part_of(image)];
    const Numbers& numbers = rule_.numbers[rule_.part_of(image)];
    const bool inside = y >= p.pad_top && y < p.pad_top + p.height;
    if (inside) read(image, p.top + y - p.pad_top, p, planes);
    const auto border = static_cast<T>(Half(static_cast<float>(padding_value)));
    const int64_t step = out.strides[3], width = out.shape[3], first = inside ? p.pad_left : width;
    for (int64_t c = 0; c < out.shape[1]; ++c) {
      T* to = out.as<T>() + image * out.strides[0] + c * out.strides[1] + y * out.strides[2];
      fill_row(to, step, 0, first, border);
      if (!inside) continue;
      write_row(numbers_of<T>(numbers, c), planes + c * rule_.head.width, p.width, to + first * step, step);
      fill_row(to, step, first + p.width, width, border);
    }
  }
  void read(int64_t image, int64_t y, const AippPicture& p, uint8_t* planes) const {
    const AippHead& head = rule_.head;
    const auto* picture = images.as<const uint8_t>() + image * picture_bytes(head.format, head.width, head.height);
    const bool yuv = head.format == PictureFormat::kYuv420;
    const int64_t pixel = yuv ? 1 : channels_of(head.format);
    AippRow row{.head = &head, .width = p.width};
    row.pixels = picture + (y * head.width + p.left) * pixel;
    if (yuv) row.chroma = picture + (head.height + y / 2) * head.width + p.left;
    for (int64_t c = 0; c < kChannels; ++c) row.planes[c] = planes + c * head.width;
    read_aipp_row(row);
  }
  Rule rule_;
};

NPU_OPERATOR(Aipp, "aipp", "image", in<&Aipp::images>("images"), optional<&Aipp::parameters>("parameters"),
             attr<&Aipp::block>("block"), attr<&Aipp::padding_value>("padding_value"), out<&Aipp::out>("out"));

}  // namespace
}  // namespace npu::ops
