// SPDX-License-Identifier: Apache-2.0
// NumPy's files.
#pragma once

#include <string>
#include <string_view>

#include "tools/compare/tensor/tensor.h"

namespace npu::compare {

/// The array in a file's bytes, of which it is a part. Raises a Refusal that names `file` for what is none, and for
/// types and orders that dump files do not know.
Tensor parse_npy(Bytes bytes, std::string_view file);

/// What stands in front of the elements of an array of that shape and type ("<f4").
std::string npy_header(std::string_view descr, const Shape& shape);
/// NumPy's name of a type, "" for one that it has not.
std::string_view npy_type(const DataType& type);

}  // namespace npu::compare
