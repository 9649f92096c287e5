// SPDX-License-Identifier: Apache-2.0
#include "graph/dump/record/overflow_record.h"

#include <cstring>
#include <vector>

namespace npu::graph::record {
namespace {

constexpr uint32_t kMagic = 0x5a5a5a5a, kVersion = 1;
constexpr uint64_t kAiCoreTask = 0, kSdmaTask = 3;

/// In the order of the payload; what a device in software has not (threads, program counters, addresses) is 0.
std::vector<uint64_t> fields_of(const OverflowRecord& record) {
  const bool sdma = record.unit == Unit::kSdma;
  std::vector<uint64_t> fields{record.model, record.stream, record.task, sdma ? kSdmaTask : kAiCoreTask};
  fields.resize(sdma ? 9 : 10);  // of an AI Core: context, thread, counter, base, core, block; else addresses, channel
  fields.push_back(record.status);
  if (!sdma) fields.resize(14);  // a status has four words
  return fields;
}

}  // namespace

std::array<std::byte, kOverflowBytes> encode_overflow(const OverflowRecord& record) {
  const std::vector<uint64_t> fields = fields_of(record);
  const auto bytes = static_cast<uint32_t>(fields.size() * sizeof(uint64_t));
  const uint32_t head[] = {kMagic, kVersion, 1, static_cast<uint32_t>(record.unit), 0, bytes};
  std::array<std::byte, kOverflowBytes> payload{};
  std::memcpy(payload.data(), head, sizeof head);
  std::memcpy(payload.data() + sizeof head, fields.data(), bytes);
  return payload;
}

}  // namespace npu::graph::record
