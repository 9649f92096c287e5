// SPDX-License-Identifier: Apache-2.0
// A zip file whose members are stored as they are: the tensor's description as a pickle, and its elements.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <vector>

#include "tools/compare/exit/refusal.h"
#include "tools/compare/tensor/array_file.h"

namespace npu::compare {
namespace {

constexpr size_t kBlock = 4096;
constexpr uint64_t kAlignment = 64;
constexpr uint64_t kMost = std::numeric_limits<uint32_t>::max() - (1u << 20);  // offsets of a zip file have 32 bits

/// How torch calls a storage of such elements, and how the elements are written there.
struct Storage {
  const char* name;
  size_t bytes;
  enum class As { kRaw, kFloat, kByte, kInt, kLong } as;
};

Storage storage_of(const DataType& type) {
  using enum Storage::As;
  switch (type.number) {
    case 0:
    case 3:
    case 14:
    case 18: return {"CharStorage", 1, kRaw};
    case 4:
    case 15:
    case 21: return {"ByteStorage", 1, kRaw};
    case 2: return {"HalfStorage", 2, kRaw};
    case 5:
    case 19: return {"ShortStorage", 2, kRaw};
    case 6:
    case 22: return {"IntStorage", 4, kInt};
    case 7:
    case 20: return {"IntStorage", 4, kRaw};
    case 8:
    case 23: return {"LongStorage", 8, kRaw};
    case 9: return {"LongStorage", 8, kLong};
    case 11: return {"BoolStorage", 1, kRaw};
    case 12: return {"DoubleStorage", 8, kRaw};
    case 16: return {"ComplexFloatStorage", 8, kRaw};
    case 17: return {"ComplexDoubleStorage", 16, kRaw};
    case 27: return {"BFloat16Storage", 2, kRaw};
    case 29:
    case 31: return {"ByteStorage", 1, kByte};
    case 28:
    case 30: return {"CharStorage", 1, kByte};
    case 10: throw Refusal(Exit::kElementType, "-t pt: torch has no storage of uint64; write it with -t npy.");
    default: return {"FloatStorage", 4, kFloat};
  }
}

template <class T>
void put_as(const View& view, uint64_t first, size_t n, std::vector<std::byte>& to) {
  std::vector<double> values(n);
  view.read(first, n, values.data());
  for (size_t i = 0; i < n; ++i) {
    const T value = static_cast<T>(values[i]);
    std::memcpy(to.data() + i * sizeof value, &value, sizeof value);
  }
}

void read_block(const View& view, const Storage& storage, uint64_t first, size_t n, std::vector<std::byte>& to) {
  using enum Storage::As;
  switch (storage.as) {
    case kRaw: return view.read_raw(first, n, to.data());
    case kFloat: return put_as<float>(view, first, n, to);
    case kByte: return put_as<int8_t>(view, first, n, to);
    case kInt: return put_as<int32_t>(view, first, n, to);
    case kLong: return put_as<int64_t>(view, first, n, to);
  }
}

/// Calls `take(bytes)` for all elements, block by block.
template <class Take>
void each_block(const View& view, const Storage& storage, Take&& take) {
  std::vector<std::byte> block(kBlock * 16);
  for (uint64_t at = 0; at < view.count; at += kBlock) {
    const size_t n = std::min<uint64_t>(kBlock, view.count - at);
    read_block(view, storage, at, n, block);
    take(std::string_view(reinterpret_cast<const char*>(block.data()), n * storage.bytes));
  }
}

class Checksum {
 public:
  void add(std::string_view bytes) {
    for (const char c : bytes) value_ = table()[(value_ ^ static_cast<unsigned char>(c)) & 0xff] ^ value_ >> 8;
  }
  uint32_t value() const { return ~value_; }

 private:
  static const std::array<uint32_t, 256>& table() {
    static const auto all = [] {
      std::array<uint32_t, 256> found{};
      for (uint32_t i = 0; i < 256; ++i) {
        uint32_t c = i;
        for (int bit = 0; bit < 8; ++bit) c = c & 1 ? 0xedb88320u ^ c >> 1 : c >> 1;
        found[i] = c;
      }
      return found;
    }();
    return all;
  }
  uint32_t value_ = 0xffffffff;
};

template <class T>
void put_number(std::string& to, T value) {
  for (size_t i = 0; i < sizeof value; ++i) to.push_back(static_cast<char>(static_cast<uint64_t>(value) >> (8 * i)));
}

/// What torch.save writes for a contiguous tensor on the host, as pickle's opcodes.
class Pickle {
 public:
  std::string tensor(const Storage& storage, const Shape& shape, uint64_t count) {
    text_ = "\x80\x02";
    global("torch._utils", "_rebuild_tensor_v2");
    text_ += "((";
    word("storage"), global("torch", storage.name), word("0"), word("cpu"), number(count);
    text_ += "tQ";
    number(0), tuple(shape), tuple(steps_of(shape));
    text_ += '\x89';  // asks for no gradient
    global("collections", "OrderedDict");
    return text_ + ")RtR.";
  }

 private:
  static Shape steps_of(const Shape& shape) {
    Shape steps(shape.size(), 1);
    for (size_t i = shape.size(); i-- > 1;) steps[i - 1] = steps[i] * std::max<uint64_t>(1, shape[i]);
    return steps;
  }
  void global(std::string_view module, std::string_view name) { text_ += fmt::format("c{}\n{}\n", module, name); }
  void word(std::string_view word) {
    text_ += 'X', put_number(text_, static_cast<uint32_t>(word.size())), text_ += word;
  }
  void number(uint64_t value) { text_ += "\x8a\x08", put_number(text_, value); }
  void tuple(const Shape& values) {
    text_ += '(';
    for (const uint64_t value : values) number(value);
    text_ += 't';
  }
  std::string text_;
};

class Zip {
 public:
  explicit Zip(const std::string& path) : path_(path), file_(path, std::ios::binary | std::ios::trunc) {}

  /// The bytes follow through put().
  void begin(const std::string& name, uint64_t size, uint32_t checksum) {
    const uint64_t start = written_ + 30 + name.size() + 4;
    const uint64_t padding = (kAlignment - start % kAlignment) % kAlignment;
    std::string facts;  // of both headers
    for (const uint16_t field : {uint16_t{0}, uint16_t{0}, uint16_t{0}, uint16_t{0x21}}) put_number(facts, field);
    put_number(facts, checksum);
    for (int times = 0; times < 2; ++times) put_number(facts, static_cast<uint32_t>(size));
    put_number(facts, static_cast<uint16_t>(name.size()));
    std::string local("PK\3\4\x14\0", 6);
    local += facts, put_number(local, static_cast<uint16_t>(padding + 4)), local += name;
    local += "FB", put_number(local, static_cast<uint16_t>(padding)), local.append(padding, 'Z');
    list_.append("PK\1\2\x14\0\x14\0", 8);
    list_ += facts, list_.append(12, '\0'), put_number(list_, static_cast<uint32_t>(written_)), list_ += name;
    ++members_;
    put(local);
  }
  void put(std::string_view bytes) {
    file_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    written_ += bytes.size();
  }
  void add(const std::string& name, std::string_view bytes) {
    Checksum sum;
    sum.add(bytes);
    begin(name, bytes.size(), sum.value());
    put(bytes);
  }
  void finish() {
    std::string end("PK\5\6\0\0\0\0", 8);
    put_number(end, members_), put_number(end, members_), put_number(end, static_cast<uint32_t>(list_.size()));
    put_number(end, static_cast<uint32_t>(written_)), put_number(end, uint16_t{0});
    put(list_), put(end);
    file_.close();
    if (!file_) throw Refusal(Exit::kWrite, fmt::format("{} cannot be written: {}", path_, std::strerror(errno)));
  }

 private:
  std::string path_, list_;
  std::ofstream file_;
  uint64_t written_ = 0;
  uint16_t members_ = 0;
};

}  // namespace

void write_pt(const std::string& path, const View& view) {
  const Storage storage = storage_of(*view.type);
  const uint64_t bytes = view.count * storage.bytes;
  if (bytes > kMost)
    throw Refusal(Exit::kUnsupported,
                  fmt::format("-t pt: {} would have {} bytes, and 4 GiB fit; use -t npy.", path, bytes));
  Checksum sum;
  each_block(view, storage, [&](std::string_view block) { sum.add(block); });
  Zip zip(path);
  zip.add("archive/data.pkl",
          Pickle().tensor(storage, view.shape.empty() ? Shape{view.count} : view.shape, view.count));
  zip.add("archive/byteorder", "little");
  zip.begin("archive/data/0", bytes, sum.value());
  each_block(view, storage, [&](std::string_view block) { zip.put(block); });
  zip.add("archive/version", "3\n");
  zip.finish();
}

}  // namespace npu::compare
