// SPDX-License-Identifier: Apache-2.0
#include "ops/attention/infer_layout.h"

#include <algorithm>
#include <string_view>

#include "ops/attention/layout.h"

namespace npu::ops {
namespace {

constexpr std::string_view kLayouts[] = {"BSH",       "SBH",      "BSND",      "BNSD",      "NSD",
                                         "TND",       "NTD",      "BNSD_BSND", "BNSD_NBSD", "BSND_BNSD",
                                         "BSND_NBSD", "BSH_BNSD", "BSH_NBSD",  "TND_NTD",   "NTD_TND"};

}  // namespace

InferLayout::InferLayout(const std::string& name) {
  require(std::ranges::find(kLayouts, name) != std::end(kLayouts),
          "input_layout is {}; this device takes BNSD, BSND, BSH, SBH, NSD, TND and NTD, and BNSD_BSND, BNSD_NBSD, "
          "BSND_BNSD, BSND_NBSD, BSH_BNSD, BSH_NBSD, TND_NTD and NTD_TND",
          name);
  const size_t turned = name.find('_');
  in = name.substr(0, turned);
  out = turned == std::string::npos ? in : name.substr(turned + 1);
}

Tensor infer_view(const Tensor& tensor, const std::string& layout, int64_t heads, const char* name) {
  if (layout == "TND") return packed_view(tensor, name);
  if (layout == "NTD" || layout == "NSD") {
    require(tensor.rank() == 3, "{} is {}: layout {} has 3 dimensions", name, tensor.shape, layout);
    return packed_view(tensor.transposed(0, 1), name);
  }
  if (layout == "NBSD") {
    require(tensor.rank() == 4, "{} is {}: layout NBSD has 4 dimensions", name, tensor.shape);
    return tensor.transposed(0, 1);
  }
  return head_view(tensor, layout, heads, name);
}

}  // namespace npu::ops
