// SPDX-License-Identifier: Apache-2.0
#include "acl/profiling/callback.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace npu::acl {
namespace {

/// Functions whose numbers are published; all others have none, and are told by their names.
constexpr std::pair<std::string_view, msptiCallbackId> kNumbers[] = {
    {"aclrtSetDevice", MSPTI_CBID_RUNTIME_DEVICE_SET}, {"aclrtResetDevice", MSPTI_CBID_RUNTIME_DEVICE_RESET}};

msptiCallbackDomain domain_of(std::string_view name) {
  if (name.starts_with("Hccl")) return MSPTI_CB_DOMAIN_HCCL;
  return name.starts_with("acl") && !name.starts_with("aclnn") ? MSPTI_CB_DOMAIN_RUNTIME : MSPTI_CB_DOMAIN_INVALID;
}

msptiCallbackId number_of(std::string_view name) {
  const auto* const found = std::ranges::find(kNumbers, name, [](const auto& one) { return one.first; });
  return found == std::end(kNumbers) ? msptiCallbackId{MSPTI_CBID_RUNTIME_INVALID} : found->second;
}

/// What a callback at the beginning of a call hands to the one at its end.
struct Open {
  uint64_t number, shared;
};
thread_local std::vector<Open> open;
thread_local bool inside = false;  // a callback: what that calls is not the client's program

}  // namespace

Callbacks& callbacks() {
  static Callbacks& instance = *new Callbacks;
  return instance;
}

void Callbacks::subscribe(msptiCallbackFunc function, void* userdata) {
  for (Domain& domain : domains_) {
    domain.all = false;
    for (auto& one : domain.functions) one = false;
  }
  userdata_ = userdata;
  function_ = function;
}

void Callbacks::enable(msptiCallbackDomain domain, bool enabled) {
  domains_[static_cast<size_t>(domain)].all = enabled;
}

bool Callbacks::enable(msptiCallbackDomain domain, msptiCallbackId function, bool enabled) {
  const bool known = domain == MSPTI_CB_DOMAIN_RUNTIME &&
                     std::ranges::any_of(kNumbers, [&](const auto& one) { return one.second == function; });
  if (known) domains_[static_cast<size_t>(domain)].functions[function] = enabled;
  return known;
}

bool Callbacks::any() const {
  return std::ranges::any_of(domains_, [](const Domain& domain) {
    return domain.all || std::ranges::any_of(domain.functions, [](const auto& one) { return one.load(); });
  });
}

bool Callbacks::wants(msptiCallbackDomain domain, msptiCallbackId function) const {
  const Domain& found = domains_[static_cast<size_t>(domain)];
  return domain != MSPTI_CB_DOMAIN_INVALID && (found.all || (function != 0 && found.functions[function]));
}

void Callbacks::call(const char* name, uint64_t number, msptiApiCallbackSite site, uint64_t* shared) const {
  const msptiCallbackFunc function = function_;
  if (function == nullptr || inside || !wants(domain_of(name), number_of(name))) return;
  msptiCallbackData data{};
  data.callbackSite = site;
  data.functionName = name, data.correlationId = number, data.correlationData = shared;
  inside = true;
  function(userdata_, domain_of(name), number_of(name), &data);
  inside = false;
}

void Callbacks::enter(const char* name, uint64_t number) {
  if (inside || !is_subscribed() || !any()) return;
  open.push_back({number, 0});
  uint64_t shared = 0;
  call(name, number, MSPTI_API_ENTER, &shared);
  open.back().shared = shared;
}

void Callbacks::leave(const char* name, uint64_t number) {
  if (inside) return;
  const auto found = std::ranges::find(open, number, &Open::number);
  if (found == open.end()) return;  // it began before
  uint64_t shared = found->shared;
  open.erase(found, open.end());
  call(name, number, MSPTI_API_EXIT, &shared);
}

}  // namespace npu::acl
