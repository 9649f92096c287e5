// SPDX-License-Identifier: Apache-2.0
// One input or output of a file, and how it is seen by those who compare or convert it.
#pragma once

#include <span>
#include <string>

#include "tools/compare/tensor/view.h"

namespace npu::compare {

struct Tensor {
  graph::record::DumpTensor facts;
  Bytes bytes;
  bool mapped = false;  ///< the bytes are a file's
};

/// One element, by the published rule: the sizes' sum is their number.
bool is_scalar(const Shape& shape);
/// "(2, 3)".
std::string shape_text(const Shape& shape);
/// In the order in which it was written. Raises a Refusal for elements that are no numbers and for too few of them.
View plain_view(const Tensor& tensor);
/// In format `target`, `to` being the shape wanted.
View converted_view(const Tensor& tensor, int32_t source, int32_t target, const Shape& to);
/// Cuts off what is padding beside `shape`. False where the view has less than the shape on some axis.
bool crop(View& view, const Shape& shape);

/// A tensor as it was before it was brought into the device's format, as far as that is known; else as it was written.
View restored_view(const Tensor& tensor);

/// A tensor of a dump and its golden, brought into the golden's format. `format` is that of the golden ("" for mine)
/// and `shape` its shape, as the graph tells them.
struct Match {
  View mine, golden;
};
Match match(const Tensor& mine, const Tensor& golden, std::string format, const Shape& shape);
/// The same with both sides in the order N, C, (D,) H, W, or in the golden's where mine is a FRACTAL_Z.
Match match_by_axes(const Tensor& mine, const Tensor& golden, std::string format, const Shape& shape);
/// Whether a format has a depth beside height and width.
bool is_deep(int32_t format);

}  // namespace npu::compare
