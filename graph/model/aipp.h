// SPDX-License-Identifier: Apache-2.0
// What a file of `atc --insert_op_conf` asks for: pictures of bytes become the input of a model (AIPP). A file is text
// with one or more aipp_op { key: value … }; keys and their ranges are the vendor's.
//
// A configuration is written into the model as a node of its own (insert_aipp), with its keys as attributes, so that
// dumps show it, and as JSON beside it.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/json.h"
#include "graph/ir/function.h"

namespace npu::graph::model {

struct Aipp {
  // Which input, and how.
  std::string aipp_mode;                ///< static, or dynamic: the rest comes from run to run
  int64_t related_input_rank = 0;       ///< the model's input, counted from 0
  std::string related_input_name;       ///< instead
  std::vector<int64_t> input_edge_idx;  ///< of the input's uses; none: all
  int64_t max_src_image_size = 0;       ///< bytes of all pictures, for dynamic
  bool support_rotation = false;        ///< refused when true
  // How pictures come.
  std::string input_format;      ///< YUV420SP_U8, XRGB8888_U8, RGB888_U8 or YUV400_U8
  int64_t src_image_size_w = 0;  ///< 0: what the model takes
  int64_t src_image_size_h = 0;
  // What is done with them, in this order.
  bool rbuv_swap_switch = false, ax_swap_switch = false, single_line_mode = false;
  bool crop = false;
  int64_t load_start_pos_w = 0, load_start_pos_h = 0;
  int64_t crop_size_w = 0, crop_size_h = 0;  ///< 0: what the model takes
  bool resize = false;                       ///< refused when true
  int64_t resize_output_w = 0, resize_output_h = 0;
  bool csc_switch = false;
  std::array<int64_t, 9> matrix{298, 516, 0, 298, -100, -208, 298, 0, 409};
  std::array<int64_t, 3> input_bias{16, 128, 128}, output_bias{16, 128, 128};
  std::array<int64_t, 4> mean{};
  std::array<double, 4> min{}, var_reci{1, 1, 1, 1};
  bool padding = false;
  int64_t left_padding_size = 0, right_padding_size = 0, top_padding_size = 0, bottom_padding_size = 0;
  double cpadding_value = 0;  ///< of the border

  // What the model takes, told by insert_aipp.
  std::string model_format;  ///< NCHW or NHWC
  std::string model_dtype;   ///< float32 or float16
  std::vector<int64_t> model_shape;

  /// Raises 161002 for what no model could take; sizes that the model tells are not needed.
  void check() const;
  bool dynamic() const { return aipp_mode == "dynamic"; }
};

/// Where a key's value is.
using AippField = std::variant<int64_t*, double*, bool*, std::string*, std::vector<int64_t>*>;
struct AippKey {
  std::string_view name;
  AippField (*field)(Aipp&);
  double low = 0, high = 0;  ///< of numbers
};
/// All keys, in the order of the vendor's template.
std::span<const AippKey> aipp_keys();

/// The configurations of a file. Raises 161002 with "E10052", the name, line and column, what was got and what is
/// taken. Each is then checked as far as that can be done without its model.
std::vector<Aipp> read_aipp(std::string_view text, const std::string& file);

/// A configuration as JSON, by the names of its keys, and back. Raises 161002 for what is none.
Json to_json(const Aipp& aipp);
Aipp aipp_from_json(const Json& json);

/// The keys as attributes of a node, and back.
void set_attributes(const Aipp& aipp, Attributes& attributes);
Aipp aipp_of(const Attributes& attributes);

/// The parameters of a static configuration as the operator takes them (ops/image/aipp_block.h).
std::string aipp_block(const Aipp& aipp);

/// The name of the input that brings the parameters of dynamic pictures.
inline constexpr std::string_view kAippInput = "ascend_dynamic_aipp_data";

/// The bytes that an input is in front of a model, once `aipp` is complete: [N, H, W, C] of uint8; of YUV420SP_U8,
/// whose planes lie one behind the other, [N, H * 3 / 2, W, 1]. `batch` may be kUnknownDim.
PartialShape aipp_input_shape(const Aipp& aipp, int64_t batch);

/// Puts the configurations between the inputs of `function` and their uses. An input then is uint8, of the shape above;
/// a dynamic one is a row of max_src_image_size bytes, and an input named kAippInput is added behind all others.
/// `channels_last` tells how pictures lie in the model: NHWC, else NCHW. The configurations come back complete: sizes
/// that the file leaves to the model are filled in. Raises 161002 with E10052 and the reason: no such input, one that
/// is no picture of float32 or float16, sizes that do not fit.
std::vector<Aipp> insert_aipp(Function& function, std::vector<Aipp> configurations, bool channels_last);

}  // namespace npu::graph::model
