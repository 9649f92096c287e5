// SPDX-License-Identifier: Apache-2.0
#include "comm/rendezvous/way.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/setting.h"
#include "comm/rendezvous/network.h"

namespace npu::comm {
namespace {

/// "eth0,mlx5_0:1": the card, and whatever can do RDMA.
std::string devices(const std::string& own) {
  const bool known = !chooses_card() && !own.empty() && !is_loopback(own);
  std::string out = card_with(known ? own : own_address());
  std::error_code none;
  for (const auto& each : std::filesystem::directory_iterator("/sys/class/infiniband", none))
    out += fmt::format(",{}:1", each.path().filename().string());
  return out;
}

/// HCCL's variables about RDMA, and those of UCX that say the same (kinds of connection: reliable, datagrams).
UcxVariables of_hccl() {
  UcxVariables out;
  const auto add = [&](std::string_view ours, const char* theirs, const auto& value) {
    const std::string text = setting_text(ours);
    if (text.empty()) return;
    for (const char* kind : {"UCX_RC_VERBS_", "UCX_RC_MLX5_", "UCX_UD_VERBS_"})
      out[kind + std::string(theirs)] = value(text);
  };
  const auto same = [](const std::string& text) { return text; };
  add("HCCL_RDMA_TC", "TRAFFIC_CLASS", same);
  add("HCCL_RDMA_SL", "SL", same);
  add("HCCL_RDMA_RETRY_CNT", "RETRY_COUNT", same);
  add("HCCL_RDMA_TIMEOUT", "TIMEOUT", [](const std::string& text) {
    return fmt::format("{:.3f}us", 4.096 * static_cast<double>(uint64_t{1} << std::stoul(text)));
  });
  return out;
}

}  // namespace

Wire& opened_wire(const std::string& own) {
  UcxVariables variables = of_hccl();
  if (const std::string found = devices(own); !found.empty()) variables["UCX_NET_DEVICES"] = found;
  if (setting_text("HCCL_SOCKET_FAMILY") == "AF_INET6") variables["UCX_TCP_AF_PRIO"] = "inet6,inet";
  return Wire::open(variables);
}

}  // namespace npu::comm
