// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "acl/call.h"
#include "acl/include/mstx/ms_tools_ext.h"
#include "acl/profiling/mark.h"

struct mstxDomainRegistration_st {
  std::string name;
};

using namespace npu;       // NOLINT: the C functions below are the door itself
using namespace npu::acl;  // NOLINT

namespace {

struct Domains {
  std::mutex mutex;
  std::map<std::string, std::unique_ptr<mstxDomainRegistration_st>, std::less<>> live;
};
// Never destroyed: clients may mark while the process ends.
Domains& domains() {
  static Domains& instance = *new Domains;
  return instance;
}

std::string name_of(mstxDomainHandle_t handle) {
  given(handle, "handle");
  const std::lock_guard lock(domains().mutex);
  for (const auto& [name, domain] : domains().live)
    if (domain.get() == handle) return name;
  fail(Code::kInvalidParam, "handle is no domain, or has been destroyed; make one by mstxDomainCreateA");
}

}  // namespace

void mstxMarkA(const char* message, aclrtStream stream) {
  call("mstxMarkA", [&] { mark_moment({given(message, "message")}, stream); });
}

mstxRangeId mstxRangeStartA(const char* message, aclrtStream stream) {
  return call_or<mstxRangeId>("mstxRangeStartA", 0, [&] { return begin_range({given(message, "message")}, stream); });
}

void mstxRangeEnd(mstxRangeId id) {
  call("mstxRangeEnd", [&] { end_range(id); });
}

mstxDomainHandle_t mstxDomainCreateA(const char* name) {
  return call_or<mstxDomainHandle_t>("mstxDomainCreateA", nullptr, [&] {
    const std::string_view text = given(name, "name");
    if (text.empty()) fail(Code::kInvalidParam, "name is empty; the domain without a name is that of mstxMarkA");
    const std::lock_guard lock(domains().mutex);
    std::unique_ptr<mstxDomainRegistration_st>& domain = domains().live[std::string(text)];
    if (!domain) domain = std::make_unique<mstxDomainRegistration_st>(std::string(text));
    return domain.get();
  });
}

void mstxDomainDestroy(mstxDomainHandle_t handle) {
  call("mstxDomainDestroy", [&] {
    const std::string name = name_of(handle);
    const std::lock_guard lock(domains().mutex);
    domains().live.erase(name);
  });
}

void mstxDomainMarkA(mstxDomainHandle_t handle, const char* message, aclrtStream stream) {
  call("mstxDomainMarkA", [&] { mark_moment({given(message, "message"), name_of(handle)}, stream); });
}

mstxRangeId mstxDomainRangeStartA(mstxDomainHandle_t handle, const char* message, aclrtStream stream) {
  return call_or<mstxRangeId>("mstxDomainRangeStartA", 0,
                              [&] { return begin_range({given(message, "message"), name_of(handle)}, stream); });
}

void mstxDomainRangeEnd(mstxDomainHandle_t handle, mstxRangeId id) {
  call("mstxDomainRangeEnd", [&] {
    name_of(handle);
    end_range(id);
  });
}
