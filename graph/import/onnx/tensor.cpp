// SPDX-License-Identifier: Apache-2.0
#include "graph/import/onnx/tensor.h"

#include <array>
#include <charconv>
#include <cstring>
#include <fstream>
#include <map>

#include "graph/import/onnx/proto.h"

namespace npu::graph::onnx {
namespace {

namespace fs = std::filesystem;

struct ElementType {
  std::string_view name;
  DType dtype = DType::kUndefined;
};

/// Entry i: TensorProto.DataType i.
constexpr std::array<ElementType, 24> kElements = {{
    {"UNDEFINED"},
    {"FLOAT", DType::kFloat},
    {"UINT8", DType::kUInt8},
    {"INT8", DType::kInt8},
    {"UINT16", DType::kUInt16},
    {"INT16", DType::kInt16},
    {"INT32", DType::kInt32},
    {"INT64", DType::kInt64},
    {"STRING", DType::kString},
    {"BOOL", DType::kBool},
    {"FLOAT16", DType::kHalf},
    {"DOUBLE", DType::kDouble},
    {"UINT32", DType::kUInt32},
    {"UINT64", DType::kUInt64},
    {"COMPLEX64", DType::kComplex64},
    {"COMPLEX128", DType::kComplex128},
    {"BFLOAT16", DType::kBFloat16},
    {"FLOAT8E4M3FN"},
    {"FLOAT8E4M3FNUZ"},
    {"FLOAT8E5M2"},
    {"FLOAT8E5M2FNUZ"},
    {"UINT4"},
    {"INT4"},
    {"FLOAT4E2M1"},
}};

/// No tensor is larger: a few bytes of a damaged message could ask for any amount of memory.
constexpr int64_t kLargestTensor = int64_t{1} << 36;
constexpr int64_t kOutside = 1;

struct TensorMessage {
  std::string name;
  int64_t data_type = 0;
  Dims shape;
  std::vector<std::byte> elements;  ///< of the typed lists
  std::vector<std::string> strings;
  Bytes raw;
  bool has_raw = false, outside = false;
  std::map<std::string, std::string> external;

  DType dtype() const { return element_type(data_type); }
  template <class T>
  void add(T value) {
    const auto* from = reinterpret_cast<const std::byte*>(&value);
    elements.insert(elements.end(), from, from + sizeof(T));
  }
  /// An integer of the message in the element's own width; halves travel as their bits.
  void add_integer(int64_t value) {
    switch (size_of(dtype())) {
      case 1: return add(static_cast<uint8_t>(value));
      case 2: return add(static_cast<uint16_t>(value));
      case 4: return add(static_cast<uint32_t>(value));
      default: return add(static_cast<uint64_t>(value));
    }
  }
};

void add_dim(TensorMessage& m, int64_t size) {
  if (size < 0) fail(Code::kParseFile, "tensor '{}' has a dimension of {}", m.name, size);
  m.shape.push_back(size);
}

/// What tells how elements are stored, which may stand behind them.
void read_head(TensorMessage& m, Field f) {
  switch (f.number()) {
    case field::kTensorName: m.name = f.text(); break;
    case field::kDataType: m.data_type = f.integer(); break;
    case field::kDims: f.integers([&](int64_t size) { add_dim(m, size); }); break;
    case field::kLocation: m.outside = f.integer() == kOutside; break;
    case field::kSegment: fail(Code::kParseFile, "tensor '{}' comes in segments, which nobody writes", m.name);
    case field::kExternal:
      map_entry(f.bytes(), [&](const std::string& key, Bytes value) { m.external[key] = text(value); });
      break;
    default: break;
  }
}

void read_elements(TensorMessage& m, Field f) {
  switch (f.number()) {
    case field::kFloatData: f.floats([&](float v) { m.add(v); }); break;
    case field::kDoubleData: f.doubles([&](double v) { m.add(v); }); break;
    case field::kStringData: m.strings.push_back(f.text()); break;
    case field::kRawData: m.raw = f.bytes(), m.has_raw = true; break;
    case field::kInt32Data:
    case field::kInt64Data:
    case field::kUint64Data: f.integers([&](int64_t v) { m.add_integer(v); }); break;
    default: break;
  }
}

int64_t number_of(const TensorMessage& m, const char* key) {
  const auto at = m.external.find(key);
  if (at == m.external.end()) return -1;
  int64_t value = 0;
  const char* end = at->second.data() + at->second.size();
  if (std::from_chars(at->second.data(), end, value).ptr != end || value < 0)
    fail(Code::kParseFile, "tensor '{}': {} of its data is '{}', which is no number", m.name, key, at->second);
  return value;
}

/// A file beside the model's; names that lead out of its folder are refused.
fs::path place_of(const TensorMessage& m, const fs::path& folder) {
  const auto at = m.external.find("location");
  if (at == m.external.end())
    fail(Code::kParseFile, "tensor '{}' lies outside of the file, which does not say where", m.name);
  const fs::path place = fs::path(at->second).lexically_normal();
  if (place.is_absolute() || place.empty() || *place.begin() == "..")
    fail(Code::kInvalidFile, "tensor '{}' lies in '{}', outside of the model's folder; put it beside the model", m.name,
         at->second);
  return folder / place;
}

std::vector<std::byte> read_outside(const TensorMessage& m, const fs::path& folder, int64_t wanted) {
  const fs::path place = place_of(m, folder);
  const int64_t offset = std::max<int64_t>(number_of(m, "offset"), 0), length = number_of(m, "length");
  if (length >= 0 && length != wanted)
    fail(Code::kParseFile, "tensor '{}' has {} bytes in '{}' where its shape asks for {}", m.name, length,
         place.string(), wanted);
  std::ifstream file(place, std::ios::binary);
  if (!file)
    fail(Code::kInvalidFile, "the data of tensor '{}' are not at '{}'; keep them beside the model", m.name,
         place.string());
  std::vector<std::byte> bytes(static_cast<size_t>(wanted));
  file.seekg(offset);
  file.read(reinterpret_cast<char*>(bytes.data()), wanted);
  if (file.gcount() != wanted)
    fail(Code::kInvalidFile, "'{}' ends before tensor '{}' does: {} bytes at {} are needed", place.string(), m.name,
         wanted, offset);
  return bytes;
}

Literal strings_of(TensorMessage& m, Literal literal) {
  if (!std::cmp_equal(m.strings.size(), literal.count()))
    fail(Code::kParseFile, "tensor '{}' holds {} strings where its shape asks for {}", m.name, m.strings.size(),
         literal.count());
  literal.strings = std::make_shared<const std::vector<std::string>>(std::move(m.strings));
  return literal;
}

int64_t checked_count(const TensorMessage& m, int64_t size) {
  int64_t count = 1;
  for (const int64_t dim : m.shape)
    if (__builtin_mul_overflow(count, dim, &count) || count > kLargestTensor / size)
      fail(Code::kParseFile, "tensor '{}' of shape {} passes 64 GiB", m.name, m.shape);
  return count;
}

Literal to_literal(TensorMessage& m, const fs::path& folder) {
  const DType dtype = m.dtype();
  if (dtype == DType::kUndefined)
    fail(Code::kUnsupportedDataType,
         "tensor '{}' is of type {}, which the NPU does not compute; export the model with float16, bfloat16 or int8",
         m.name, element_name(m.data_type));
  const auto size = std::max<int64_t>(static_cast<int64_t>(size_of(dtype)), 1);
  const int64_t wanted = checked_count(m, size) * size;
  Literal literal{ValueType::tensor(dtype), m.shape, nullptr, nullptr};
  if (dtype == DType::kString) return strings_of(m, std::move(literal));
  std::vector<std::byte> bytes;
  if (m.outside) {
    bytes = read_outside(m, folder, wanted);
  } else if (m.has_raw) {
    const auto* from = reinterpret_cast<const std::byte*>(m.raw.data());
    bytes.assign(from, from + m.raw.size());
  } else {
    bytes = std::move(m.elements);
  }
  if (!std::cmp_equal(bytes.size(), wanted))
    fail(Code::kParseFile, "tensor '{}' holds {} bytes where its shape {} asks for {}", m.name, bytes.size(), m.shape,
         wanted);
  literal.bytes = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  return literal;
}

/// The place of each value: one number, or one for each axis.
std::vector<int64_t> places(const Literal& indices, const Dims& shape, int64_t count) {
  const auto rank = static_cast<int64_t>(shape.size());
  const bool flat = indices.shape.size() == 1;
  const int64_t most = count_of(shape);
  if (indices.type.dtype != DType::kInt64 || indices.count() != (flat ? count : count * rank))
    fail(Code::kParseFile, "a sparse tensor of {} values has indices {}", count, indices.shape);
  std::vector<int64_t> out;
  for (int64_t i = 0; i < count; ++i) {
    int64_t at = flat ? indices.as<int64_t>()[i] : 0;
    for (int64_t d = 0; d < rank && !flat; ++d)
      at = at * shape[static_cast<size_t>(d)] + indices.as<int64_t>()[i * rank + d];
    if (at < 0 || at >= most) fail(Code::kParseFile, "a sparse tensor names element {} of {}", at, most);
    out.push_back(at);
  }
  return out;
}

}  // namespace

DType element_type(int64_t number) {
  return number >= 0 && std::cmp_less(number, kElements.size()) ? kElements[static_cast<size_t>(number)].dtype
                                                                : DType::kUndefined;
}

std::string element_name(int64_t number) {
  if (number >= 0 && std::cmp_less(number, kElements.size()))
    return std::string(kElements[static_cast<size_t>(number)].name);
  return fmt::format("number {}", number);
}

Literal read_tensor(Bytes tensor, const fs::path& folder) {
  TensorMessage m;
  each_field(tensor, [&](Field f) { read_head(m, f); });
  each_field(tensor, [&](Field f) { read_elements(m, f); });
  return to_literal(m, folder);
}

Literal read_sparse(Bytes tensor, const fs::path& folder) {
  Bytes values, indices;
  Dims shape;
  each_field(tensor, [&](Field f) {
    if (f.number() == field::kSparseValues) values = f.bytes();
    if (f.number() == field::kSparseIndices) indices = f.bytes();
    if (f.number() == field::kSparseDims) f.integers([&](int64_t size) { shape.push_back(size); });
  });
  const Literal given = read_tensor(values, folder), where = read_tensor(indices, folder);
  if (!given.bytes) fail(Code::kParseFile, "a sparse tensor holds strings");
  TensorMessage m;
  m.shape = shape;
  const auto size = size_of(given.type.dtype);
  std::vector<std::byte> bytes(static_cast<size_t>(checked_count(m, static_cast<int64_t>(size))) * size);
  const std::vector<int64_t> at = places(where, shape, given.count());
  for (size_t i = 0; i < at.size(); ++i)
    std::memcpy(&bytes[static_cast<size_t>(at[i]) * size], given.bytes->data() + i * size, size);
  return {given.type, shape, std::make_shared<const std::vector<std::byte>>(std::move(bytes)), nullptr};
}

std::string tensor_name(Bytes tensor) {
  std::string name;
  each_field(tensor, [&](Field f) {
    if (f.number() == field::kTensorName) name = f.text();
  });
  return name;
}

std::string sparse_name(Bytes tensor) {
  Bytes values;
  each_field(tensor, [&](Field f) {
    if (f.number() == field::kSparseValues) values = f.bytes();
  });
  return tensor_name(values);
}

}  // namespace npu::graph::onnx
