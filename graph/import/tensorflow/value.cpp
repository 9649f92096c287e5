// SPDX-License-Identifier: Apache-2.0
#include "graph/import/tensorflow/value.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <protozero/pbf_writer.hpp>

namespace npu::graph::tensorflow {
namespace {

/// Entry i: the dtype of TensorFlow's DataType i.
constexpr std::array<DType, 24> kDTypes = [] {
  std::array<DType, 24> t{};
  t.fill(DType::kUndefined);
  t[1] = DType::kFloat, t[2] = DType::kDouble, t[3] = DType::kInt32, t[4] = DType::kUInt8, t[5] = DType::kInt16;
  t[6] = DType::kInt8, t[7] = DType::kString, t[8] = DType::kComplex64, t[9] = DType::kInt64, t[10] = DType::kBool;
  t[14] = DType::kBFloat16, t[17] = DType::kUInt16, t[18] = DType::kComplex128, t[19] = DType::kHalf;
  t[22] = DType::kUInt32, t[23] = DType::kUInt64;
  return t;
}();
constexpr int64_t kReference = 100, kResource = 20, kVariant = 21;

/// A literal may say "the last value fills the rest", so a few bytes can ask for any amount of memory.
constexpr int64_t kLargestLiteral = int64_t{1} << 32;

/// Values as the message spells them, one T an element of the tensor's memory.
struct Elements {
  std::vector<std::byte> bytes;
  template <class T>
  void add(T value) {
    const auto* from = reinterpret_cast<const std::byte*>(&value);
    bytes.insert(bytes.end(), from, from + sizeof(T));
  }
  /// An integer of the message narrowed to the element type; halves travel as their bits.
  void add_integer(DType dtype, int64_t value) {
    switch (size_of(dtype)) {
      case 1: return add(static_cast<uint8_t>(value));
      case 2: return add(static_cast<uint16_t>(value));
      case 4: return add(static_cast<uint32_t>(value));
      default: return add(static_cast<uint64_t>(value));
    }
  }
};

struct TensorMessage {
  ValueType type;
  PartialShape shape{Dims()};
  Bytes content;
  Elements elements;
  std::vector<std::string> strings;
};

void read_field(TensorMessage& m, Field f) {
  const auto integers = [&] { f.integers([&](int64_t v) { m.elements.add_integer(m.type.dtype, v); }); };
  switch (f.number()) {
    case field::kDType: m.type = value_type(f.integer()); break;
    case field::kTensorShape: m.shape = read_shape(f.bytes()); break;
    case field::kContent: m.content = f.bytes(); break;
    case field::kFloatVal:
    case field::kScomplexVal: f.floats([&](float v) { m.elements.add(v); }); break;
    case field::kDoubleVal:
    case field::kDcomplexVal: f.doubles([&](double v) { m.elements.add(v); }); break;
    case field::kStringVal: m.strings.push_back(f.text()); break;
    case field::kIntVal:
    case field::kInt64Val:
    case field::kBoolVal:
    case field::kHalfVal:
    case field::kUint32Val:
    case field::kUint64Val: integers(); break;
    default: break;
  }
}

/// The message's elements brought to `wanted` bytes: none is zeros, too few repeat the last.
std::vector<std::byte> filled(std::vector<std::byte> bytes, size_t wanted, size_t size) {
  if (bytes.size() > wanted || bytes.size() % size != 0)
    fail(Code::kParseFile, "a tensor literal holds {} bytes where its shape asks for {}", bytes.size(), wanted);
  const size_t given = bytes.size();
  bytes.resize(wanted);
  if (given == 0) return bytes;
  for (size_t at = given; at < wanted; at += size) std::memcpy(&bytes[at], &bytes[given - size], size);
  return bytes;
}

std::vector<std::byte> content_of(const TensorMessage& m) {
  const auto* from = reinterpret_cast<const std::byte*>(m.content.data());
  return {from, from + m.content.size()};
}

struct ListReader {
  std::vector<int64_t> ints;
  std::vector<double> floats;
  std::vector<bool> bools;
  std::vector<std::string> strings;
  std::vector<ValueType> types;
  std::vector<PartialShape> shapes;
  std::vector<FunctionName> functions;
};

}  // namespace

ValueType value_type(int64_t data_type) {
  if (data_type > kReference) data_type -= kReference;
  if (data_type == kResource) return ValueType::resource();
  if (data_type == kVariant) return ValueType::variant();
  const bool known = data_type >= 0 && data_type < static_cast<int64_t>(kDTypes.size());
  return ValueType::tensor(known ? kDTypes[static_cast<size_t>(data_type)] : DType::kUndefined);
}

int64_t data_type(const ValueType& type) {
  if (type.is_tensor()) return std::find(kDTypes.begin(), kDTypes.end(), type.dtype) - kDTypes.begin();
  return type.kind == ValueKind::kResource ? kResource : kVariant;
}

std::string write_attribute(const Attribute& value) {
  std::string bytes;
  protozero::pbf_writer writer(bytes);
  if (const bool* flag = std::get_if<bool>(&value)) {
    writer.add_bool(field::kB, *flag);
  } else if (const auto* words = std::get_if<std::string>(&value)) {
    writer.add_string(field::kS, *words);
  } else if (const auto* type = std::get_if<ValueType>(&value)) {
    writer.add_enum(field::kAttrType, static_cast<int32_t>(data_type(*type)));
  } else {
    fail(Code::kInternal, "no pass writes {}", kind_name(value));
  }
  return bytes;
}

PartialShape read_shape(Bytes shape) {
  Dims dims;
  bool unknown = false;
  each_field(shape, [&](Field f) {
    if (f.number() == field::kUnknownRank) unknown = f.boolean();
    if (f.number() != field::kDim) return;
    int64_t size = 0;
    each_field(f.bytes(), [&](Field dim) {
      if (dim.number() == field::kSize) size = dim.integer();
    });
    if (size < kUnknownDim) fail(Code::kParseFile, "a shape has a dimension of {}", size);
    dims.push_back(size);
  });
  return unknown ? PartialShape::unknown() : PartialShape{dims};
}

Literal read_literal(Bytes tensor) {
  // The type decides how the elements are stored, and nothing obliges a writer to put it first.
  TensorMessage m;
  each_field(tensor, [&](Field f) {
    if (f.number() == field::kDType) m.type = value_type(f.integer());
  });
  each_field(tensor, [&](Field f) { read_field(m, f); });
  if (!m.shape.known())
    fail(Code::kParseFile, "a tensor literal has the shape {}; every dimension must be known", to_string(m.shape));
  Literal literal{m.type, *m.shape.dims, nullptr, nullptr};
  const int64_t count = literal.count();
  if (m.type == ValueType::tensor(DType::kString)) {
    if (count > kLargestLiteral / static_cast<int64_t>(sizeof(std::string)) ||
        std::cmp_greater(m.strings.size(), count))
      fail(Code::kParseFile, "a string literal of shape {} holds {} strings", to_string(m.shape), m.strings.size());
    m.strings.resize(static_cast<size_t>(count), m.strings.empty() ? std::string() : m.strings.back());
    literal.strings = std::make_shared<const std::vector<std::string>>(std::move(m.strings));
    return literal;
  }
  const auto size = static_cast<int64_t>(size_of(m.type.dtype));
  if (size == 0) return literal;  // nothing of ours computes on it
  if (count > kLargestLiteral / size)
    fail(Code::kParseFile, "a tensor literal of shape {} passes 4 GiB", to_string(m.shape));
  auto bytes = filled(m.content.empty() ? std::move(m.elements.bytes) : content_of(m),
                      static_cast<size_t>(count * size), static_cast<size_t>(size));
  literal.bytes = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  return literal;
}

namespace {

FunctionName read_function_name(Bytes name_attr_list) {
  FunctionName out;
  each_field(name_attr_list, [&](Field f) {
    if (f.number() == field::kFuncName) out.name = f.text();
  });
  return out;
}

/// A list keeps the kind of whatever stands in it; an empty one fits no kind and reads as no ints.
Attribute read_list(Bytes list) {
  ListReader l;
  each_field(list, [&](Field f) {
    switch (f.number()) {
      case field::kS: l.strings.push_back(f.text()); break;
      case field::kI: f.integers([&](int64_t v) { l.ints.push_back(v); }); break;
      case field::kF: f.floats([&](float v) { l.floats.push_back(v); }); break;
      case field::kB: f.integers([&](int64_t v) { l.bools.push_back(v != 0); }); break;
      case field::kAttrType: f.integers([&](int64_t v) { l.types.push_back(value_type(v)); }); break;
      case field::kShape: l.shapes.push_back(read_shape(f.bytes())); break;
      case field::kListFunc: l.functions.push_back(read_function_name(f.bytes())); break;
      default: break;
    }
  });
  if (!l.strings.empty()) return std::move(l.strings);
  if (!l.floats.empty()) return std::move(l.floats);
  if (!l.bools.empty()) return std::move(l.bools);
  if (!l.types.empty()) return std::move(l.types);
  if (!l.shapes.empty()) return std::move(l.shapes);
  if (!l.functions.empty()) return std::move(l.functions);
  return std::move(l.ints);
}

}  // namespace

Attribute read_attribute(Bytes attr_value) {
  Attribute out;
  each_field(attr_value, [&](Field f) {
    switch (f.number()) {
      case field::kList: out = read_list(f.bytes()); break;
      case field::kS: out = f.text(); break;
      case field::kI: out = f.integer(); break;
      case field::kF: out = static_cast<double>(f.real()); break;
      case field::kB: out = f.boolean(); break;
      case field::kAttrType: out = value_type(f.integer()); break;
      case field::kShape: out = read_shape(f.bytes()); break;
      case field::kTensor: out = read_literal(f.bytes()); break;
      case field::kFunc: out = read_function_name(f.bytes()); break;
      default: break;
    }
  });
  return out;
}

}  // namespace npu::graph::tensorflow
