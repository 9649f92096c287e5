// SPDX-License-Identifier: Apache-2.0
#include "graph/dump/record/dump_data.h"

#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>

#include "base/error.h"

namespace npu::graph::record {
namespace {

using Reader = protozero::pbf_reader;
using Writer = protozero::pbf_writer;

// Field numbers of toolkit.dumpdata.DumpData and of what it holds.
namespace field {
enum Data : uint32_t { kVersion = 1, kTime, kOutput, kInput, kBuffer, kOpName, kAttr, kSpace };
enum Out : uint32_t { kType = 1, kFormat, kShape, kOriginalOp, kBlob, kSize, kOriginalShape, kSubFormat, kAddress };
enum In : uint32_t { kInSize = 5, kInOriginalShape, kInSubFormat, kInAddress };
enum Pair : uint32_t { kFirst = 1, kSecond, kThird, kFourth };
}  // namespace field

/// Where inputs and outputs keep the same facts.
struct TensorFields {
  uint32_t size, original_shape, sub_format, address;
};
constexpr TensorFields kOutputFields{field::kSize, field::kOriginalShape, field::kSubFormat, field::kAddress};
constexpr TensorFields kInputFields{field::kInSize, field::kInOriginalShape, field::kInSubFormat, field::kInAddress};

// As protobuf does, what is zero or empty is not written.
void put_number(Writer& to, uint32_t tag, uint64_t value) {
  if (value != 0) to.add_uint64(tag, value);
}
void put_small(Writer& to, uint32_t tag, int32_t value) { put_number(to, tag, static_cast<uint64_t>(int64_t{value})); }
void put_text(Writer& to, uint32_t tag, const std::string& value) {
  if (!value.empty()) to.add_string(tag, value);
}

void put_shape(Writer& to, uint32_t tag, const Shape& shape) {
  if (shape.empty()) return;
  Writer message(to, tag);
  message.add_packed_uint64(field::kFirst, shape.begin(), shape.end());
}

void put_original(Writer& to, const OriginalOp& op) {
  if (op == OriginalOp{}) return;
  Writer message(to, field::kOriginalOp);
  put_text(message, field::kFirst, op.name);
  put_number(message, field::kSecond, op.output_index);
  put_small(message, field::kThird, op.data_type);
  put_small(message, field::kFourth, op.format);
}

void put_tensor(Writer& to, uint32_t tag, const TensorFields& fields, const DumpTensor& tensor) {
  Writer message(to, tag);
  put_small(message, field::kType, tensor.data_type);
  put_small(message, field::kFormat, tensor.format);
  put_shape(message, field::kShape, tensor.shape);
  if (tag == field::kOutput) put_original(message, tensor.original_op);
  put_number(message, fields.size, tensor.size);
  put_shape(message, fields.original_shape, tensor.original_shape);
  put_small(message, fields.sub_format, tensor.sub_format);
  put_number(message, fields.address, tensor.address);
}

void put_bytes(Writer& to, uint32_t tag, const DumpBytes& bytes) {
  Writer message(to, tag);
  put_small(message, field::kFirst, bytes.type);
  put_number(message, field::kThird, bytes.size);
}

void put_attr(Writer& to, const DumpAttr& attr) {
  Writer message(to, field::kAttr);
  put_text(message, field::kFirst, attr.name);
  put_text(message, field::kSecond, attr.value);
}

/// A whole number of any field that holds one; raises protozero's exceptions for one that does not.
uint64_t number(Reader& from) {
  if (from.wire_type() != protozero::pbf_wire_type::varint) throw protozero::unknown_pbf_wire_type_exception{};
  return from.get_uint64();
}
int32_t small(Reader& from) { return static_cast<int32_t>(number(from)); }

protozero::data_view blob(Reader& from) {
  if (from.wire_type() != protozero::pbf_wire_type::length_delimited)
    throw protozero::unknown_pbf_wire_type_exception{};
  return from.get_view();
}
std::string text(Reader& from) { return std::string(blob(from)); }

/// Calls `take(field)` for each field of a message; what it does not read is passed over.
template <class Take>
void each_field(Reader message, Take&& take) {
  while (message.next())
    if (!take(message)) message.skip();
}

/// Sizes stand packed or one by one.
Shape shape_of(protozero::data_view bytes) {
  Shape shape;
  each_field(Reader(bytes), [&](Reader& f) {
    if (f.tag() != field::kFirst) return false;
    if (f.wire_type() == protozero::pbf_wire_type::varint) return shape.push_back(number(f)), true;
    if (f.wire_type() != protozero::pbf_wire_type::length_delimited) return false;
    for (const uint64_t size : f.get_packed_uint64()) shape.push_back(size);
    return true;
  });
  return shape;
}

OriginalOp original_of(protozero::data_view bytes) {
  OriginalOp op;
  each_field(Reader(bytes), [&](Reader& f) {
    switch (f.tag()) {
      case field::kFirst: op.name = text(f); return true;
      case field::kSecond: op.output_index = static_cast<uint32_t>(number(f)); return true;
      case field::kThird: op.data_type = small(f); return true;
      case field::kFourth: op.format = small(f); return true;
      default: return false;
    }
  });
  return op;
}

/// The facts whose place differs between inputs and outputs; false for another field.
bool take_placed(Reader& f, const TensorFields& fields, DumpTensor& tensor) {
  if (f.tag() == fields.size) return tensor.size = number(f), true;
  if (f.tag() == fields.original_shape) return tensor.original_shape = shape_of(blob(f)), true;
  if (f.tag() == fields.sub_format) return tensor.sub_format = small(f), true;
  if (f.tag() == fields.address) return tensor.address = number(f), true;
  return false;
}

DumpTensor tensor_of(protozero::data_view bytes, const TensorFields& fields, bool output) {
  DumpTensor tensor;
  each_field(Reader(bytes), [&](Reader& f) {
    if (f.tag() == field::kType) return tensor.data_type = small(f), true;
    if (f.tag() == field::kFormat) return tensor.format = small(f), true;
    if (f.tag() == field::kShape) return tensor.shape = shape_of(blob(f)), true;
    if (output && f.tag() == field::kOriginalOp) return tensor.original_op = original_of(blob(f)), true;
    return take_placed(f, fields, tensor);
  });
  return tensor;
}

DumpBytes bytes_of(protozero::data_view bytes) {
  DumpBytes found;
  each_field(Reader(bytes), [&](Reader& f) {
    if (f.tag() == field::kFirst) return found.type = small(f), true;
    if (f.tag() == field::kThird) return found.size = number(f), true;
    return false;
  });
  return found;
}

DumpAttr attr_of(protozero::data_view bytes) {
  DumpAttr attr;
  each_field(Reader(bytes), [&](Reader& f) {
    if (f.tag() == field::kFirst) return attr.name = text(f), true;
    if (f.tag() == field::kSecond) return attr.value = text(f), true;
    return false;
  });
  return attr;
}

bool take(Reader& f, DumpData& data) {
  switch (f.tag()) {
    case field::kVersion: data.version = text(f); return true;
    case field::kTime: data.dump_time = number(f); return true;
    case field::kOutput: data.outputs.push_back(tensor_of(blob(f), kOutputFields, true)); return true;
    case field::kInput: data.inputs.push_back(tensor_of(blob(f), kInputFields, false)); return true;
    case field::kBuffer: data.buffers.push_back(bytes_of(blob(f))); return true;
    case field::kOpName: data.op_name = text(f); return true;
    case field::kAttr: data.attrs.push_back(attr_of(blob(f))); return true;
    case field::kSpace: data.workspaces.push_back(bytes_of(blob(f))); return true;
    default: return false;
  }
}

}  // namespace

std::string encode_header(const DumpData& data) {
  std::string message(8, '\0');
  Writer to(message);
  put_text(to, field::kVersion, data.version);
  put_number(to, field::kTime, data.dump_time);
  for (const DumpTensor& output : data.outputs) put_tensor(to, field::kOutput, kOutputFields, output);
  for (const DumpTensor& input : data.inputs) put_tensor(to, field::kInput, kInputFields, input);
  for (const DumpBytes& buffer : data.buffers) put_bytes(to, field::kBuffer, buffer);
  put_text(to, field::kOpName, data.op_name);
  for (const DumpAttr& attr : data.attrs) put_attr(to, attr);
  for (const DumpBytes& space : data.workspaces) put_bytes(to, field::kSpace, space);
  const uint64_t length = message.size() - 8;
  for (size_t i = 0; i < 8; ++i) message[i] = static_cast<char>(length >> (8 * i));
  return message;
}

DumpData decode_header(std::string_view bytes) {
  DumpData data;
  data.version.clear();
  try {
    each_field(Reader(bytes.data(), bytes.size()), [&](Reader& f) { return take(f, data); });
  } catch (const protozero::exception& reason) {
    fail(Code::kParseFile, "the header is damaged ({})", reason.what());
  }
  return data;
}

}  // namespace npu::graph::record
