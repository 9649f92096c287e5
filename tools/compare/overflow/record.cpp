// SPDX-License-Identifier: Apache-2.0
#include "tools/compare/overflow/record.h"

#include <fmt/ranges.h>

#include <array>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "tools/compare/exit/refusal.h"

namespace npu::compare {
namespace {

using Bytes = std::span<const std::byte>;

constexpr uint32_t kMagic = 0x5a5a5a5a;
constexpr uint64_t kNoId = 65535;
constexpr size_t kOldBytes = 2048;
// Where the parts of the old form begin.
constexpr size_t kDha = 0, kL2 = 128, kCore = 256, kDhaStatus = 512, kL2Status = 768, kCoreStatus = 1024;

template <class T>
T number(Bytes bytes, size_t at) {
  if (bytes.size() < sizeof(T) || at > bytes.size() - sizeof(T))
    throw Refusal(Exit::kDamaged, fmt::format("An overflow record of {} bytes ends within a field.", bytes.size()));
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

std::string hex(uint64_t value) { return fmt::format("{:#x}", value); }

bool is_address(std::string_view name) {
  return name == "pc_start" || name == "para_base" || name == "src_addr" || name == "dst_addr";
}

OrderedJson field(std::string_view name, uint64_t value) {
  return is_address(name) ? OrderedJson(hex(value)) : OrderedJson(value);
}

OrderedJson old_part(Bytes bytes, size_t at) {
  OrderedJson part;
  for (const char* name : {"model_id", "stream_id", "task_id", "task_type", "pc_start", "para_base"})
    part[name] = field(name, number<uint64_t>(bytes, at)), at += 8;
  return part;
}

OrderedJson old_form(Bytes bytes) {
  if (bytes.size() != kOldBytes)
    throw Refusal(Exit::kDamaged, fmt::format("An overflow record has {} bytes, not {}. Please check the dump file.",
                                              bytes.size(), kOldBytes));
  OrderedJson dha = old_part(bytes, kDha), l2 = old_part(bytes, kL2), core = old_part(bytes, kCore);
  dha["status"] = number<uint64_t>(bytes, kDhaStatus), l2["status"] = number<uint64_t>(bytes, kL2Status);
  core["kernel_code"] = hex(number<uint64_t>(bytes, kCoreStatus));
  core["block_idx"] = number<uint64_t>(bytes, kCoreStatus + 8),
  core["status"] = number<uint64_t>(bytes, kCoreStatus + 16);
  return {{"DHA Atomic Add", dha}, {"L2 Atomic Add", l2}, {"AI Core", core}};
}

const std::vector<const char*>& fields_of(uint32_t kind) {
  static const std::vector<const char*> core = {"model_id",   "stream_id", "task_id",  "task_type",
                                                "context_id", "thread_id", "pc_start", "para_base",
                                                "core_id",    "block_id",  "status"};
  static const std::vector<const char*> cpu = {"model_id",   "stream_id", "task_id",   "task_type",
                                               "context_id", "cpu_id",    "thread_id", "status"};
  static const std::vector<const char*> copy = {"model_id",  "stream_id", "task_id",  "task_type",  "context_id",
                                                "thread_id", "src_addr",  "dst_addr", "channel_id", "status"};
  return kind == 2 ? cpu : kind == 3 ? copy : core;
}

OrderedJson new_form(Bytes bytes) {
  constexpr std::array<const char*, 4> kKinds = {"AIC", "AIV", "AICPU", "SDMA"};
  const uint32_t version = number<uint32_t>(bytes, 4), kind = number<uint32_t>(bytes, 12);
  if (kind >= kKinds.size())
    throw Refusal(Exit::kOverflowType, fmt::format("The kind of an overflow record is {}, which nobody knows.", kind));
  OrderedJson data;
  size_t at = 24;
  for (const char* name : fields_of(kind)) {
    if (std::string_view(name) == "status" && version == 1 && kind < 2) {
      data[name] = OrderedJson::array();
      for (int i = 0; i < 4; ++i, at += 8) data[name].push_back(number<uint64_t>(bytes, at));
    } else {
      data[name] = field(name, number<uint64_t>(bytes, at)), at += 8;
    }
  }
  return {{"magic", hex(kMagic)},
          {"version", version},
          {"acc_list",
           {{"valid", number<uint32_t>(bytes, 8)},
            {"acc_type", kKinds[kind]},
            {"rsv", number<uint32_t>(bytes, 16)},
            {"data_len", number<uint32_t>(bytes, 20)},
            {"data", data}}}};
}

bool overflowed(const OrderedJson& part) {
  const auto status = part.find("status");
  if (status == part.end()) return false;
  return status->is_array() ? true : status->is_number() && *status != 0;
}

OverflowTask task_of(const std::string& kind, const OrderedJson& part) {
  const OrderedJson& status = part.at("status");
  OverflowTask found{kind, "", part.at("task_id").get<uint64_t>(), part.at("stream_id").get<uint64_t>(), {}, {}};
  found.status =
      status.is_array() ? fmt::format("[{}]", fmt::join(status.get<std::vector<uint64_t>>(), ", ")) : status.dump();
  if (part.contains("context_id") && part["context_id"] != kNoId) found.context = part["context_id"].get<uint64_t>();
  if (part.contains("thread_id") && part["thread_id"] != kNoId) found.thread = part["thread_id"].get<uint64_t>();
  return found;
}

}  // namespace

OrderedJson decode_overflow(Bytes bytes) {
  return number<uint32_t>(bytes, 0) == kMagic ? new_form(bytes) : old_form(bytes);
}

OverflowTask overflow_task(const OrderedJson& record) {
  if (record.contains("acc_list")) {
    const OrderedJson& part = record["acc_list"];
    if (overflowed(part.at("data"))) return task_of(part.at("acc_type").get<std::string>(), part.at("data"));
  } else {
    std::optional<OverflowTask> last;
    for (const auto& [kind, part] : record.items())
      if (overflowed(part)) last = task_of(kind, part);
    if (last) return *std::move(last);
  }
  throw Refusal(Exit::kOverflowType, "[Overflow] The record says of no part that it overflowed.");
}

}  // namespace npu::compare
