// SPDX-License-Identifier: Apache-2.0
// The library ends a call by calling error_exit, which must not return; an exception thrown there would cross its C
// frames, so it jumps back to where a call began, over frames that own nothing: all that has a destructor lives outside
// of the frames between, and what is to be raised is raised behind the jump.
#include "ops/picture/jpeg.h"

#include <jpeglib.h>

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "base/error.h"

namespace npu::ops {
namespace {

constexpr size_t kMostRows = MAX_SAMP_FACTOR * DCTSIZE;  // of one channel that are decoded at a time

struct Failure {
  jpeg_error_mgr manager;
  std::jmp_buf place;
  std::array<char, JMSG_LENGTH_MAX> text{};
};

[[noreturn]] void leave(j_common_ptr codec) {
  auto* failure = reinterpret_cast<Failure*>(codec->err);
  codec->err->format_message(codec, failure->text.data());
  std::longjmp(failure->place, 1);
}

// A warning is a damaged file: what is not there must not look like a picture.
void warn(j_common_ptr codec, int level) {
  if (level < 0) leave(codec);
}

void quiet(j_common_ptr) {}

jpeg_error_mgr* prepare(Failure& failure) {
  jpeg_error_mgr* manager = jpeg_std_error(&failure.manager);
  manager->error_exit = leave;
  manager->emit_message = warn;
  manager->output_message = quiet;
  return manager;
}

/// Runs `body`, a call of C functions whose frame owns nothing. False when it failed; the text says why.
template <class F>
bool guarded(Failure& failure, F&& body) {
  if (setjmp(failure.place) != 0) return false;
  body();
  return true;
}

[[noreturn]] void refuse(const Failure& failure) {
  fail(Code::kNnInvalidParam, "the JPEG file cannot be decoded: {}; check that it is whole", failure.text.data());
}

class Decoder {
 public:
  explicit Decoder(std::span<const std::byte> file) {
    require(!file.empty(), "the JPEG file is empty");
    codec_.err = prepare(failure_);
    run([&] {
      jpeg_create_decompress(&codec_);
      jpeg_mem_src(&codec_, reinterpret_cast<const unsigned char*>(file.data()), file.size());
      jpeg_read_header(&codec_, TRUE);
    });
  }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;
  ~Decoder() { jpeg_destroy_decompress(&codec_); }

  JpegInfo info() const {
    JpegInfo info{codec_.image_width, codec_.image_height, codec_.num_components, JpegSampling::kOther};
    if (info.channels == 1) info.sampling = JpegSampling::kGray;
    if (info.channels == 3) info.sampling = sampling();
    return info;
  }

  /// Each channel as the file has it, in memory of its own whose rows and columns are a whole number of blocks; of them
  /// `view` shows as many as belong to `width` x `height` pixels.
  void read(std::array<std::vector<uint8_t>, 3>& memory, PictureView& view, int64_t width, int64_t height);

 private:
  template <class F>
  void run(F&& body) {
    if (guarded(failure_, body)) return;
    jpeg_destroy_decompress(&codec_);  // a second time does nothing
    refuse(failure_);
  }
  JpegSampling sampling() const;
  void read_rows(std::array<std::array<JSAMPROW, kMostRows>, 3>& rows, const PictureView& padded);

  jpeg_decompress_struct codec_{};
  Failure failure_{};
};

JpegSampling Decoder::sampling() const {
  const jpeg_component_info* c = codec_.comp_info;
  if (c[1].h_samp_factor != c[2].h_samp_factor || c[1].v_samp_factor != c[2].v_samp_factor) return JpegSampling::kOther;
  const int across = c[0].h_samp_factor / c[1].h_samp_factor, down = c[0].v_samp_factor / c[1].v_samp_factor;
  const bool whole = c[0].h_samp_factor % c[1].h_samp_factor == 0 && c[0].v_samp_factor % c[1].v_samp_factor == 0;
  if (!whole) return JpegSampling::kOther;
  if (across == 1) return down == 1 ? JpegSampling::k444 : down == 2 ? JpegSampling::k440 : JpegSampling::kOther;
  if (across == 2) return down == 1 ? JpegSampling::k422 : down == 2 ? JpegSampling::k420 : JpegSampling::kOther;
  return across == 4 && down == 1 ? JpegSampling::k411 : JpegSampling::kOther;
}

void Decoder::read_rows(std::array<std::array<JSAMPROW, kMostRows>, 3>& rows, const PictureView& padded) {
  JSAMPARRAY channels[3] = {rows[0].data(), rows[1].data(), rows[2].data()};
  while (codec_.output_scanline < codec_.output_height) {
    for (int c = 0; c < codec_.num_components; ++c) {
      const int factor = codec_.comp_info[c].v_samp_factor;
      const int64_t first = int64_t{codec_.output_scanline} * factor / codec_.max_v_samp_factor;
      const Plane& plane = padded.planes[static_cast<size_t>(c)];
      for (int64_t i = 0; i < factor * DCTSIZE; ++i)
        rows[static_cast<size_t>(c)][static_cast<size_t>(i)] = plane.at(0, first + i);
    }
    jpeg_read_raw_data(&codec_, channels, static_cast<JDIMENSION>(codec_.max_v_samp_factor * DCTSIZE));
  }
}

void Decoder::read(std::array<std::vector<uint8_t>, 3>& memory, PictureView& view, int64_t width, int64_t height) {
  codec_.raw_data_out = TRUE;
  codec_.out_color_space = codec_.num_components == 1 ? JCS_GRAYSCALE : JCS_YCbCr;
  run([&] { jpeg_start_decompress(&codec_); });
  PictureView padded;
  const int64_t mcu_rows = codec_.max_v_samp_factor * DCTSIZE;
  view.channels = codec_.num_components, view.model = view.channels == 1 ? ColourModel::kGray : ColourModel::kYuv;
  for (int c = 0; c < codec_.num_components; ++c) {
    const auto i = static_cast<size_t>(c);
    const jpeg_component_info& info = codec_.comp_info[c];
    const int64_t block_rows = (codec_.output_height + mcu_rows - 1) / mcu_rows;
    const int64_t row = int64_t{info.width_in_blocks} * DCTSIZE, rows = block_rows * info.v_samp_factor * DCTSIZE;
    memory[i].resize(static_cast<size_t>(row * rows));
    padded.planes[i] = {memory[i].data(), row, rows, row, 1};
    view.planes[i] = padded.planes[i];
    view.planes[i].width = (width * info.h_samp_factor + codec_.max_h_samp_factor - 1) / codec_.max_h_samp_factor;
    view.planes[i].height = (height * info.v_samp_factor + codec_.max_v_samp_factor - 1) / codec_.max_v_samp_factor;
  }
  std::array<std::array<JSAMPROW, kMostRows>, 3> rows{};
  run([&] { read_rows(rows, padded); });
}

}  // namespace

JpegInfo jpeg_info(std::span<const std::byte> file) { return Decoder(file).info(); }

void decode_jpeg(std::span<const std::byte> file, const std::function<PictureView(const JpegInfo&)>& target,
                 const TransformRule& rule) {
  Decoder decoder(file);
  const JpegInfo info = decoder.info();
  require(info.channels == 1 || info.channels == 3,
          "the JPEG file has {} channels; decoded are gray ones and those of YUV: convert it", info.channels);
  require(info.sampling != JpegSampling::kOther,
          "the JPEG file shares colours in a way that is not built; write it as 4:4:4, 4:2:2, 4:2:0, 4:4:0 or gray");
  const PictureView to = target(info);
  std::array<std::vector<uint8_t>, 3> memory;
  PictureView from;
  // One row or column more than the file has, where pixels share colours: there are whole blocks of them.
  const auto even = [](int64_t wanted, int64_t size) { return wanted == size + size % 2 ? wanted : size; };
  decoder.read(memory, from, even(to.planes[0].width, info.width), even(to.planes[0].height, info.height));
  transform(from, to, rule);
}

int64_t jpeg_bound(int64_t width, int64_t height) {
  // Blocks of noise take at most about twice their bytes, and the head a few hundred.
  return 2 * ((width + 15) / 16 * 16) * ((height + 15) / 16 * 16) * 3 / 2 + 4096;
}

namespace {

/// A picture as the encoder takes it: whole blocks, the edges repeated.
struct Blocks {
  std::array<std::vector<uint8_t>, 3> memory;
  PictureView view;

  Blocks(const PictureView& picture, const TransformRule& rule) {
    const int64_t width = picture.planes[0].width, height = picture.planes[0].height;
    const bool gray = picture.model == ColourModel::kGray;
    view.model = gray ? ColourModel::kGray : ColourModel::kYuv, view.channels = gray ? 1 : 3;
    view.shift_x = view.shift_y = gray ? 0 : 1;
    PictureView inside = view;
    for (int c = 0; c < view.channels; ++c) {
      const int64_t share = c == 0 || gray ? 1 : 2;
      const int64_t row = (width + 15) / 16 * 16 / share, rows = (height + 15) / 16 * 16 / share;
      const auto i = static_cast<size_t>(c);
      memory[i].resize(static_cast<size_t>(row * rows));
      view.planes[i] = {memory[i].data(), row, rows, row, 1};
      inside.planes[i] = view.planes[i].part(0, 0, (width + share - 1) / share, (height + share - 1) / share);
    }
    transform(picture, inside, rule);
    add_edges(inside);
  }

 private:
  void add_edges(const PictureView& inside) {
    for (int c = 0; c < view.channels; ++c) {
      const Plane &whole = view.planes[static_cast<size_t>(c)], &part = inside.planes[static_cast<size_t>(c)];
      for (int64_t y = 0; y < part.height; ++y)
        std::fill(whole.at(part.width, y), whole.at(whole.width, y), *whole.at(part.width - 1, y));
      for (int64_t y = part.height; y < whole.height; ++y)
        std::copy_n(whole.at(0, part.height - 1), whole.width, whole.at(0, y));
    }
  }
};

void write_file(jpeg_compress_struct& codec, const Blocks& blocks, int quality) {
  codec.input_components = codec.num_components = blocks.view.channels;
  codec.in_color_space = blocks.view.channels == 1 ? JCS_GRAYSCALE : JCS_YCbCr;
  jpeg_set_defaults(&codec);
  jpeg_set_quality(&codec, quality, TRUE);
  codec.raw_data_in = TRUE;
  jpeg_start_compress(&codec, TRUE);
  JSAMPROW rows[3][2 * DCTSIZE];
  JSAMPARRAY channels[3] = {rows[0], rows[1], rows[2]};
  const int height = codec.max_v_samp_factor * DCTSIZE;
  while (codec.next_scanline < codec.image_height) {
    for (int c = 0; c < blocks.view.channels; ++c) {
      const int factor = codec.comp_info[c].v_samp_factor;
      const int64_t first = int64_t{codec.next_scanline} * factor / codec.max_v_samp_factor;
      for (int64_t i = 0; i < factor * DCTSIZE; ++i)
        rows[c][i] = blocks.view.planes[static_cast<size_t>(c)].at(0, first + i);
    }
    jpeg_write_raw_data(&codec, channels, static_cast<JDIMENSION>(height));
  }
  jpeg_finish_compress(&codec);
}

}  // namespace

std::vector<std::byte> encode_jpeg(const PictureView& picture, int quality, const TransformRule& rule) {
  const Blocks blocks(picture, rule);
  Failure failure{};
  jpeg_compress_struct codec{};
  unsigned char* memory = nullptr;
  unsigned long size = 0;  // NOLINT: the library's type
  codec.err = prepare(failure);
  const bool done = guarded(failure, [&] {
    jpeg_create_compress(&codec);
    jpeg_mem_dest(&codec, &memory, &size);
    codec.image_width = static_cast<JDIMENSION>(picture.planes[0].width);
    codec.image_height = static_cast<JDIMENSION>(picture.planes[0].height);
    write_file(codec, blocks, quality);
  });
  const auto* bytes = reinterpret_cast<const std::byte*>(memory);
  std::vector<std::byte> file(done ? bytes : nullptr, done ? bytes + size : nullptr);
  jpeg_destroy_compress(&codec);
  std::free(memory);
  require(done, "the picture cannot be written as JPEG: {}", failure.text.data());
  return file;
}

}  // namespace npu::ops
