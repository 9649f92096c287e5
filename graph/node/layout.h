// SPDX-License-Identifier: Apache-2.0
// What nodes about images share: where channels stand, and how far a window reaches over the edge.
#pragma once

#include <string_view>
#include <vector>

#include "graph/node/array.h"

namespace npu::graph {

/// True when the node's data_format puts channels last ("NHWC", "NDHWC"), false for "NCHW", "NCDHW". Declines others.
bool channels_last(const Lowering& l);
/// [n, spatial…, c] seen as [n, c, spatial…]; what has its channels there already stays as it is.
Planned channels_first(const Planned& images, bool last);
/// True for images [n, c, spatial…] that lie dense in memory with their channels last, where that is another order.
bool lies_channels_last(const Planned& images);
/// The same memory seen as [n, spatial…, c].
Planned in_order_of_memory(const Planned& images);
/// Output `i` of shape [n, c, spatial…], in memory with channels last: convolutions like images to lie so, and what
/// goes element by element leaves them as they lie.
Planned make_images(Lowering& l, size_t i, DType dtype, const Dims& shape);
/// Sizes [n, c, spatial…] in the order of the node's data_format.
Dims in_format(const Dims& channels_first, bool last);
/// The spatial values of an attribute that has one value per axis of the images. Declines unless the batch's and the
/// channels' are 1.
std::vector<int64_t> spatial(const Lowering& l, std::string_view name, const std::vector<int64_t>& per_axis, bool last);

/// One spatial axis under a moving window.
struct WindowAxis {
  int64_t out = 0;                ///< positions of the window
  int64_t before = 0, after = 0;  ///< what it sees beyond the edges, counted as TensorFlow counts
};

/// Window positions for the node's attributes padding ("SAME", "SAME_LOWER": an odd one in front, "VALID",
/// "EXPLICIT") and explicit_paddings.
/// `reach` is the window's size with its dilation. Raises 161002 when a window does not fit.
std::vector<WindowAxis> window_axes(const Lowering& l, std::span<const int64_t> in, std::span<const int64_t> reach,
                                    std::span<const int64_t> stride, bool last);

/// A vector of one number per channel, laid along the axis of the channels of a tensor of `shape`. Raises 161002 when
/// it does not fit.
Planned along_channels(const Planned& bias, const Dims& shape, bool last);

/// A number on the left or right of an operator.
inline ops::Operand number(const Scalar& value) { return {{}, value}; }

}  // namespace npu::graph
