// SPDX-License-Identifier: Apache-2.0
// A configuration of AIPP as tests read it: what the vendor's pages show, with every way of writing a field.
#pragma once

#include <string_view>

namespace npu::graph::model {

inline constexpr std::string_view kAippText = R"(# of the vendor's pages
aipp_op {
    aipp_mode: static
    related_input_rank : 0,
    input_format : YUV420SP_U8   # NV12
    src_image_size_w: 256 src_image_size_h: 128
    crop: true
    load_start_pos_w: 16
    crop_size_w: 224;
    csc_switch : true
    matrix_r0c0 : 256  matrix_r0c1 : 0 matrix_r0c2 : 359
    input_bias_0 : 0
    mean_chn_0: 104
    min_chn_1: 116.28
    var_reci_chn_0: 0.0171247538316637
    var_reci_chn_1: -2e-2f
}
aipp_op {
    aipp_mode: dynamic
    related_input_name: "second"
    max_src_image_size: 752640
})";

}  // namespace npu::graph::model
