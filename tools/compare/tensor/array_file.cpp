// SPDX-License-Identifier: Apache-2.0
#include "tools/compare/tensor/array_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <vector>

#include "tools/compare/exit/refusal.h"
#include "tools/compare/tensor/npy.h"

namespace npu::compare {
namespace {

constexpr size_t kBlock = 4096;

class Output {
 public:
  explicit Output(const std::string& path) : path_(path), file_(path, std::ios::binary | std::ios::trunc) {}
  template <class T>
  void put(const T* values, size_t count) {
    file_.write(reinterpret_cast<const char*>(values), static_cast<std::streamsize>(count * sizeof(T)));
  }
  void finish() {
    file_.close();
    if (!file_) throw Refusal(Exit::kWrite, fmt::format("{} cannot be written: {}", path_, std::strerror(errno)));
  }

 private:
  std::string path_;
  std::ofstream file_;
};

/// Calls `put(first, count)` over all elements.
template <class Put>
void in_blocks(const View& view, Put&& put) {
  for (uint64_t at = 0; at < view.count; at += kBlock)
    put(at, static_cast<size_t>(std::min<uint64_t>(kBlock, view.count - at)));
}

void put_raw(const View& view, Output& out) {
  std::vector<std::byte> block(kBlock * 16);
  const size_t size = static_cast<size_t>(view.type->bits) / 8;
  in_blocks(view, [&](uint64_t at, size_t n) { view.read_raw(at, n, block.data()), out.put(block.data(), n * size); });
}

template <class T>
void put_as(const View& view, Output& out) {
  std::vector<float> block(kBlock);
  std::vector<T> wide(kBlock);
  in_blocks(view, [&](uint64_t at, size_t n) {
    view.read(at, n, block.data());
    std::transform(block.begin(), block.begin() + static_cast<std::ptrdiff_t>(n), wide.begin(),
                   [](float x) { return static_cast<T>(x); });
    out.put(wide.data(), n);
  });
}

/// Types that are others under another name.
std::string_view twin(int32_t number) {
  switch (number) {
    case 0:
    case 14:
    case 18: return "|i1";
    case 15:
    case 21: return "|u1";
    case 19: return "<i2";
    case 22: return "<u2";
    case 20: return "<i4";
    case 23: return "<i8";
    default: return "";
  }
}

}  // namespace

void write_npy(const std::string& path, const View& view) {
  const int32_t number = view.type->number;
  const std::string_view own = npy_type(*view.type), raw = own.empty() ? twin(number) : own;
  const bool eighth = number >= 33 && number <= 35, small = number == 29 || number == 31,
             integral = number == 28 || number == 30;
  const std::string_view type = !raw.empty() ? raw : eighth ? "<f8" : small ? "|u1" : integral ? "|i1" : "<f4";
  Output out(path);
  const std::string header = npy_header(type, view.shape.empty() ? Shape{view.count} : view.shape);
  out.put(header.data(), header.size());
  if (!raw.empty())
    put_raw(view, out);
  else if (eighth)
    put_as<double>(view, out);
  else if (small)
    put_as<uint8_t>(view, out);
  else if (integral)
    put_as<int8_t>(view, out);
  else
    put_as<float>(view, out);
  out.finish();
}

void write_bin(const std::string& path, const View& view) {
  Output out(path);
  if (view.type->bits % 8 == 0)
    put_raw(view, out);
  else
    out.put(view.bytes.data(), graph::record::bytes_of(*view.type, view.count));
  out.finish();
}

}  // namespace npu::compare
