// SPDX-License-Identifier: Apache-2.0
#include "adapters/tensorflow/golden/npy.h"

#include <cstring>

namespace npu::tensorflow::golden {

std::string_view npy_type(TF_DataType type) {
  switch (type) {
    case TF_FLOAT:
    case TF_BFLOAT16: return "<f4";
    case TF_DOUBLE: return "<f8";
    case TF_HALF: return "<f2";
    case TF_INT8:
    case TF_QINT8: return "|i1";
    case TF_INT16:
    case TF_QINT16: return "<i2";
    case TF_INT32:
    case TF_QINT32: return "<i4";
    case TF_INT64: return "<i8";
    case TF_UINT8:
    case TF_QUINT8: return "|u1";
    case TF_UINT16:
    case TF_QUINT16: return "<u2";
    case TF_UINT32: return "<u4";
    case TF_UINT64: return "<u8";
    case TF_BOOL: return "|b1";
    case TF_COMPLEX64: return "<c8";
    case TF_COMPLEX128: return "<c16";
    default: return "";
  }
}

std::string npy_header(std::string_view type, const std::vector<int64_t>& shape) {
  std::string text = "{'descr': '" + std::string(type) + "', 'fortran_order': False, 'shape': (";
  for (const int64_t dim : shape) text += std::to_string(dim) + ",";
  text += "), }";
  constexpr size_t kFront = 10, kAlignment = 64;  // magic, version and length stand in front of the text
  text.resize((kFront + text.size()) / kAlignment * kAlignment + kAlignment - kFront, ' ');
  text.back() = '\n';
  const auto length = static_cast<uint16_t>(text.size());
  std::string head("\x93NUMPY\x01\x00", 8);
  head.push_back(static_cast<char>(length & 0xff));
  head.push_back(static_cast<char>(length >> 8));
  return head + text;
}

std::vector<uint32_t> widened(const void* elements, size_t count) {
  std::vector<uint32_t> out(count);
  const auto* from = static_cast<const unsigned char*>(elements);
  for (uint32_t& to : out) {
    uint16_t half = 0;
    std::memcpy(&half, from, sizeof half);
    from += sizeof half, to = uint32_t{half} << 16;
  }
  return out;
}

}  // namespace npu::tensorflow::golden
