// SPDX-License-Identifier: Apache-2.0
// As in jpeg.cpp, an error of the library is a jump over frames that own nothing.
#include "ops/picture/png.h"

#include <png.h>

#include <array>
#include <csetjmp>
#include <cstring>
#include <vector>

#include "base/error.h"

namespace npu::ops {
namespace {

struct Failure {
  std::jmp_buf place;
  std::array<char, 256> text{};
};

[[noreturn]] void leave(png_structp codec, png_const_charp text) {
  auto* failure = static_cast<Failure*>(png_get_error_ptr(codec));
  std::strncpy(failure->text.data(), text, failure->text.size() - 1);
  std::longjmp(failure->place, 1);
}
void ignore(png_structp, png_const_charp) {}

class Decoder {
 public:
  explicit Decoder(std::span<const std::byte> file) : rest_(file) {
    codec_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, &failure_, leave, ignore);
    if (codec_ != nullptr) info_ = png_create_info_struct(codec_);
    if (info_ == nullptr) {
      png_destroy_read_struct(&codec_, nullptr, nullptr);
      fail(Code::kBadAlloc, "the host's memory is used up");
    }
    png_set_read_fn(codec_, this, [](png_structp codec, png_bytep to, size_t bytes) {
      static_cast<Decoder*>(png_get_io_ptr(codec))->take(codec, to, bytes);
    });
    run([this] { png_read_info(codec_, info_); });
  }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;
  ~Decoder() { png_destroy_read_struct(&codec_, &info_, nullptr); }

  PngInfo info() const {
    const int type = png_get_color_type(codec_, info_);
    const bool alpha = (type & PNG_COLOR_MASK_ALPHA) != 0;
    const int colours = (type & PNG_COLOR_MASK_COLOR) != 0 ? 3 : 1;
    return {png_get_image_width(codec_, info_), png_get_image_height(codec_, info_), colours + (alpha ? 1 : 0)};
  }
  /// The picture as bytes R, G, B, and A where `alpha` asks for it.
  std::vector<uint8_t> read(bool alpha) {
    run([&] {
      png_set_expand(codec_);
      png_set_strip_16(codec_);
      png_set_gray_to_rgb(codec_);
      alpha ? png_set_add_alpha(codec_, 255, PNG_FILLER_AFTER) : png_set_strip_alpha(codec_);
      png_set_interlace_handling(codec_);
      png_read_update_info(codec_, info_);
    });
    const size_t row = png_get_rowbytes(codec_, info_), rows = png_get_image_height(codec_, info_);
    std::vector<uint8_t> out(row * rows);
    std::vector<png_bytep> places(rows);
    for (size_t y = 0; y < rows; ++y) places[y] = out.data() + y * row;
    run([&] {
      png_read_image(codec_, places.data());
      png_read_end(codec_, nullptr);
    });
    return out;
  }

 private:
  void take(png_structp codec, png_bytep to, size_t bytes) {
    if (bytes > rest_.size()) png_error(codec, "the file ends before its picture");
    std::memcpy(to, rest_.data(), bytes);
    rest_ = rest_.subspan(bytes);
  }
  template <class F>
  void run(F&& body) {
    if (setjmp(failure_.place) != 0) {
      png_destroy_read_struct(&codec_, &info_, nullptr);
      fail(Code::kNnInvalidParam, "the PNG file cannot be decoded: {}; check that it is whole", failure_.text.data());
    }
    body();
  }

  png_structp codec_ = nullptr;
  png_infop info_ = nullptr;
  Failure failure_{};
  std::span<const std::byte> rest_;
};

}  // namespace

PngInfo png_info(std::span<const std::byte> file) { return Decoder(file).info(); }

void decode_png(std::span<const std::byte> file, const std::function<PictureView(const PngInfo&)>& target) {
  Decoder decoder(file);
  const PngInfo info = decoder.info();
  const PictureView to = target(info);
  const std::vector<uint8_t> bytes = decoder.read(to.alpha);
  const Picture decoded{to.alpha ? PixelFormat::kRgba : PixelFormat::kRgb,
                        info.width,
                        info.height,
                        info.width * (to.alpha ? 4 : 3),
                        info.height,
                        const_cast<uint8_t*>(bytes.data())};
  transform(planes_of(decoded), to, {});
}

}  // namespace npu::ops
