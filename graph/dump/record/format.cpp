// SPDX-License-Identifier: Apache-2.0
#include "graph/dump/record/format.h"

#include <strings.h>

#include <algorithm>
#include <array>

namespace npu::graph::record {
namespace {

constexpr int32_t kMax = 255;
constexpr std::array<std::string_view, 50> kNames{
    "NCHW",
    "NHWC",
    "ND",
    "NC1HWC0",
    "FRACTAL_Z",
    "NC1C0HWPAD",
    "NHWC1C0",
    "FSR_NCHW",
    "FRACTAL_DECONV",
    "C1HWNC0",
    "FRACTAL_DECONV_TRANSPOSE",
    "FRACTAL_DECONV_SP_STRIDE_TRANS",
    "NC1HWC0_C04",
    "FRACTAL_Z_C04",
    "CHWN",
    "DECONV_SP_STRIDE8_TRANS",
    "HWCN",
    "NC1KHKWHWC0",
    "BN_WEIGHT",
    "FILTER_HWCK",
    "LOOKUP_LOOKUPS",
    "LOOKUP_KEYS",
    "LOOKUP_VALUE",
    "LOOKUP_OUTPUT",
    "LOOKUP_HITS",
    "C1HWNCoC0",
    "MD",
    "NDHWC",
    "FRACTAL_ZZ",
    "FRACTAL_NZ",
    "NCDHW",
    "DHWCN",
    "NDC1HWC0",
    "FRACTAL_Z_3D",
    "CN",
    "NC",
    "DHWNC",
    "FRACTAL_Z_3D_TRANSPOSE",
    "FRACTAL_ZN_LSTM",
    "FRACTAL_Z_G",
    "RESERVED",
    "ALL",
    "NULL",
    "ND_RNN_BIAS",
    "FRACTAL_ZN_RNN",
    "YUV",
    "YUV_A",
    "NCL",
    "FRACTAL_Z_WINO",
    "C1HWC0",
};

bool same_word(std::string_view a, std::string_view b) {
  return a.size() == b.size() && strncasecmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace

std::string_view format_name(int32_t number) {
  if (number == kMax) return "MAX";
  const auto at = static_cast<uint32_t>(number);
  return at < kNames.size() ? kNames[at] : "UNKNOWN";
}

std::optional<int32_t> find_format(std::string_view name) {
  if (same_word(name, "MAX")) return kMax;
  const auto at = std::ranges::find_if(kNames, [&](std::string_view known) { return same_word(known, name); });
  if (at == kNames.end()) return std::nullopt;
  return static_cast<int32_t>(at - kNames.begin());
}

}  // namespace npu::graph::record
