// SPDX-License-Identifier: Apache-2.0
#include "comm/rendezvous/variable.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <span>

#include "base/file.h"
#include "base/json.h"
#include "base/setting.h"
#include "comm/core/fault.h"
#include "comm/rendezvous/network.h"
#include "device/process/soc.h"

namespace npu::comm {
namespace {

NPU_SETTING(bool, strict_values, "ANYNPU_HCCL_STRICT", false,
            "1 refuses values of HCCL variables that the vendor's software refuses, though they make sense here: "
            "HCCL_CONNECT_TIMEOUT below 120, HCCL_BUFFSIZE above 2048.");
NPU_SETTING(std::string, list_off, "HCCL_WHITELIST_DISABLE", "1",
            "0: ranks meet on this machine only if the file of HCCL_WHITELIST_FILE names it.");
NPU_SETTING(std::string, list_file, "HCCL_WHITELIST_FILE", "",
            "JSON, {\"host_ip\": [addresses]}: the hosts that may take part, with HCCL_WHITELIST_DISABLE=0.");

using Get = std::function<std::string(std::string_view)>;

struct Range {
  int64_t least, most;
};

/// Numbers. `strict` is the vendor's range where ours is wider; `old` the one of the first generation of cards.
struct Numbers {
  const char* variable;
  Range range;
  Range strict, old;
  int64_t step = 1;
};

constexpr int64_t kMost = INT32_MAX;
constexpr Range kSwitch{0, 1};
constexpr Numbers kNumbers[] = {
    {"HCCL_CONNECT_TIMEOUT", {1, 7200}, {120, 7200}, {120, 7200}},
    {"HCCL_EXEC_TIMEOUT", {0, kMost}, {0, kMost}, {1, 17340}},
    {"HCCL_IF_BASE_PORT", {0, 65520}, {0, 65520}, {0, 65520}},
    {"HCCL_BUFFSIZE", {1, kMost}, {1, 2048}, {1, 2048}},
    {"HCCL_RDMA_TC", {0, 255}, {0, 255}, {0, 255}, 4},
    {"HCCL_RDMA_SL", {0, 7}, {0, 7}, {0, 7}},
    {"HCCL_RDMA_TIMEOUT", {5, 24}, {5, 20}, {5, 24}},
    {"HCCL_RDMA_RETRY_CNT", {1, 7}, {1, 7}, {1, 7}},
    {"HCCL_INTRA_PCIE_ENABLE", kSwitch, kSwitch, kSwitch},
    {"HCCL_INTRA_ROCE_ENABLE", kSwitch, kSwitch, kSwitch},
    {"HCCL_ALLTOALL_Z_COPY", kSwitch, kSwitch, kSwitch},
    {"HCCL_WHITELIST_DISABLE", kSwitch, kSwitch, kSwitch},
};

void check_number(const Numbers& one, const std::string& text, Range range) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && value >= range.least && value <= range.most &&
      value % one.step == 0)
    return;
  const bool ours_is_wider = range.least != one.range.least || range.most != one.range.most;
  fault(Result::kParameter, "EI0001: {} is '{}'; it is a {} from {} to {}. Set such a one, or unset it{}", one.variable,
        text, one.step == 1 ? "number" : fmt::format("multiple of {}", one.step), range.least, range.most,
        ours_is_wider ? ", or unset ANYNPU_HCCL_STRICT" : "");
}

void check_words(const Get& get, const char* variable, std::initializer_list<std::string_view> words) {
  const std::string text = get(variable);
  if (text.empty() || std::ranges::find(words, text) != words.end()) return;
  std::string all;
  for (const std::string_view word : words) all += fmt::format("{}{}", all.empty() ? "" : ", ", word);
  fault(Result::kParameter, "EI0001: {} is '{}'; it is one of {}. Set such a one, or unset it", variable, text, all);
}

void check_address(const Get& get, const char* variable) {
  if (const std::string text = get(variable); !text.empty() && !is_address(text))
    fault(Result::kParameter,
          "EI0001: {} is '{}'; it is one IPv4 or IPv6 address, such as 10.10.10.1. Set one, or unset it", variable,
          text);
}

void check_cards(const std::string& text) {
  std::string_view rest = text;
  if (rest.starts_with('^')) rest.remove_prefix(1);
  if (rest.starts_with('=')) rest.remove_prefix(1);
  if (text.empty() ||
      (!rest.empty() && !rest.starts_with(',') && !rest.ends_with(',') && rest.find(",,") == std::string_view::npos))
    return;
  fault(Result::kParameter,
        "EI0001: HCCL_SOCKET_IFNAME is '{}'; it is names of network cards or their beginnings, joined by commas, with "
        "'=', '^' or '^=' before them, such as =eth0,endvnic. Set such a text, or unset it",
        text);
}

/// The addresses under "host_ip".
std::vector<std::string> listed_hosts(const std::string& path) {
  const std::optional<std::string> text = whole_file(path);
  const Json content = Json::try_parse(text.value_or("")).value_or(nullptr);
  const Json hosts = content.is_object() ? content.value("host_ip", Json()) : Json();
  if (!hosts.is_array() || !std::ranges::all_of(hosts, [](const auto& each) { return each.is_string(); }))
    fault(
        Result::kParameter,
        "EI0001: HCCL_WHITELIST_FILE is '{}', {}; it names a file with {{\"host_ip\": [\"address\", …]}}. Correct it, "
        "or set HCCL_WHITELIST_DISABLE to 1",
        path, text ? "which holds no such list" : "which cannot be opened");
  return hosts.get<std::vector<std::string>>();
}

void check_list(const Get& get) {
  if (get("HCCL_WHITELIST_DISABLE") != "0") return;
  const std::vector<std::string> hosts = listed_hosts(get("HCCL_WHITELIST_FILE"));
  if (std::ranges::any_of(hosts, is_own_address)) return;
  fault(Result::kParameter,
        "EI0001: HCCL_WHITELIST_FILE '{}' names none of this machine's addresses ({} is one); ranks run on this "
        "machine. Add it, or set HCCL_WHITELIST_DISABLE to 1",
        get("HCCL_WHITELIST_FILE"), own_address());
}

}  // namespace

void check_variables(const Get& get, bool strict, int generation) {
  const bool old = generation == 1;
  for (const Numbers& each : kNumbers)
    if (const std::string text = get(each.variable); !text.empty())
      check_number(each, text, !strict ? each.range : old ? each.old : each.strict);
  if (get("HCCL_INTRA_PCIE_ENABLE") == "1" && get("HCCL_INTRA_ROCE_ENABLE") == "1")
    fault(Result::kParameter,
          "EI0001: HCCL_INTRA_PCIE_ENABLE and HCCL_INTRA_ROCE_ENABLE are both '1'; one of them is 0 or unset");
  check_words(get, "HCCL_SOCKET_FAMILY", {"AF_INET", "AF_INET6"});
  check_words(get, "HCCL_DETERMINISTIC", {"false", "true", "strict", "0", "1", "2", "FALSE", "TRUE", "STRICT"});
  for (const char* each : {"HCCL_IF_IP", "CM_CHIEF_IP", "CM_WORKER_IP"}) check_address(get, each);
  check_cards(get("HCCL_SOCKET_IFNAME"));
  check_list(get);
}

bool may_take_part(const std::string& address) {
  if (list_off() != "0" || is_loopback(address) || is_own_address(address)) return true;
  const std::vector<std::string> hosts = listed_hosts(list_file());
  return std::ranges::find(hosts, address) != hosts.end();
}

void check_variables() {
  check_variables([](std::string_view variable) { return setting_text(variable); }, strict_values(),
                  device::soc().generation);
}

}  // namespace npu::comm
