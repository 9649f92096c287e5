// SPDX-License-Identifier: Apache-2.0
// A structure that grows: its size says which fields the client's header knew, and only those are looked at.
#include "acl/collective/config.h"

#include <cstddef>
#include <cstring>

#include "acl/call.h"
#include "acl/include/hccl/hccl.h"
#include "comm/core/fault.h"

namespace npu::acl {
namespace {

constexpr uint32_t kMagic = 0xf0f0f0f0;
constexpr uint32_t kUnset = 0xffffffff;
// A structure with less than this has no field at all.
constexpr uint64_t kLeastBytes = offsetof(HcclCommConfig, hcclDeterministic);
// No header knows so many; it is no size.
constexpr uint64_t kMostBytes = 64 << 10;

/// The fields that the client's header knew.
class Fields {
 public:
  explicit Fields(const HcclCommConfig& config) : config_(config) {}

  // A field counts when all of it lies inside the size.
  template <class T>
  bool has(T HcclCommConfig::*field) const {
    const auto end = reinterpret_cast<const std::byte*>(&(config_.*field) + 1);
    return static_cast<uint64_t>(end - reinterpret_cast<const std::byte*>(&config_)) <= config_.size;
  }
  /// A number from `least` to `most` in steps, or unset.
  void number(uint32_t HcclCommConfig::*field, const char* name, uint32_t least, uint32_t most,
              uint32_t step = 1) const {
    if (!has(field)) return;
    const uint32_t value = config_.*field;
    if (value != kUnset && (value < least || value > most || value % step != 0))
      comm::fault(comm::Result::kParameter,
                  "EI0001: {} of the communicator's config is {}; it is a {} from {} to {}, or {:#x} for unset", name,
                  value, step == 1 ? "number" : fmt::format("multiple of {}", step), least, most, kUnset);
  }
  /// A text that ends within its field; "" where there is no such field.
  template <size_t bytes>
  std::string text(char (HcclCommConfig::*field)[bytes], const char* name) const {
    if (!has(field)) return "";
    // Not trusted to end: a structure that was never filled may hold anything.
    const size_t length = strnlen(config_.*field, bytes);
    if (length == bytes)
      comm::fault(comm::Result::kParameter,
                  "EI0001: {} of the communicator's config has no end; it is a text of at most {} bytes and a zero",
                  name, bytes - 1);
    return std::string(config_.*field, length);
  }

 private:
  const HcclCommConfig& config_;
};

void check_form(const HcclCommConfig& config) {
  // The magic number first: without it the size means nothing.
  if (config.magic != kMagic)
    comm::fault(comm::Result::kParameter, "EI0003: config was not filled; call HcclCommConfigInit on it first");
  if (config.size < kLeastBytes || config.size > kMostBytes)
    comm::fault(comm::Result::kParameter,
                "EI0001: size of the communicator's config is {}; it is {} to {}, as HcclCommConfigInit writes it",
                config.size, kLeastBytes, kMostBytes);
}

/// Without effect: hardware's buffers and links. What is no value of theirs is a mistake all the same.
void check_without_effect(const HcclCommConfig& config, const Fields& fields) {
  fields.number(&HcclCommConfig::hcclBufferSize, "hcclBufferSize", 1, INT32_MAX);
  fields.number(&HcclCommConfig::hcclDeterministic, "hcclDeterministic", 0, 2);
  fields.text(&HcclCommConfig::hcclUdi, "hcclUdi");
  fields.number(&HcclCommConfig::hcclOpExpansionMode, "hcclOpExpansionMode", 0, 7);
  fields.number(&HcclCommConfig::hcclRdmaTrafficClass, "hcclRdmaTrafficClass", 0, 255, 4);
  fields.number(&HcclCommConfig::hcclRdmaServiceLevel, "hcclRdmaServiceLevel", 0, 7);
  if (fields.has(&HcclCommConfig::aclGraphZeroCopyEnable) && config.aclGraphZeroCopyEnable > 1)
    comm::fault(comm::Result::kParameter,
                "EI0001: aclGraphZeroCopyEnable of the communicator's config is {}; it is 0 or 1",
                config.aclGraphZeroCopyEnable);
  fields.text(&HcclCommConfig::hcclRetryEnable, "hcclRetryEnable");
  fields.text(&HcclCommConfig::hcclRetryParams, "hcclRetryParams");
  fields.text(&HcclCommConfig::hcclBufferName, "hcclBufferName");
}

}  // namespace

comm::Options options_of(const HcclCommConfig* config) {
  comm::Options out;
  if (config == nullptr) return out;
  check_form(*config);
  const Fields fields(*config);
  check_without_effect(*config, fields);
  out.name = fields.text(&HcclCommConfig::hcclCommName, "hcclCommName");
  if (const std::string asked = fields.text(&HcclCommConfig::hcclAlgo, "hcclAlgo"); !asked.empty())
    out.algorithms = comm::AlgorithmChoice(asked, "hcclAlgo of the communicator's config");
  // -1 is how clients say that a number of seconds is not set.
  if (!fields.has(&HcclCommConfig::hcclExecTimeOut) || config->hcclExecTimeOut == -1) return out;
  if (config->hcclExecTimeOut < 0)
    comm::fault(comm::Result::kParameter,
                "EI0001: hcclExecTimeOut of the communicator's config is {}; it is a number of seconds from 0 (for "
                "ever) on, or -1 for unset",
                config->hcclExecTimeOut);
  out.exec_timeout_s = config->hcclExecTimeOut;
  return out;
}

}  // namespace npu::acl

using namespace npu;  // NOLINT: the C functions below are the door itself

HcclResult HcclSetConfig(HcclConfig config, HcclConfigValue configValue) {
  // Nothing is kept: sums have one fixed order whatever the client asks for.
  const int code = acl::call("HcclSetConfig", [&] {
    if (config != HCCL_DETERMINISTIC)
      fail(Code::kInvalidParam, "config is {}; only 0 (HCCL_DETERMINISTIC) is known", static_cast<int>(config));
    if (configValue.value < 0 || configValue.value > 2)
      fail(Code::kInvalidParam, "configValue is {}; determinism is 0, 1 or 2", configValue.value);
  });
  return code == 0 ? HCCL_SUCCESS : HCCL_E_PARA;
}
