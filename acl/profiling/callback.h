// SPDX-License-Identifier: Apache-2.0
// The callback of mspti's subscriber: called when a function of an enabled domain begins and ends, in the thread that
// called it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string_view>

#include "acl/include/mspti/mspti.h"

namespace npu::acl {

class Callbacks {
 public:
  /// Nothing is enabled for it at first; null for one that wants activities alone.
  void subscribe(msptiCallbackFunc function, void* userdata);
  void unsubscribe() { subscribe(nullptr, nullptr); }
  bool is_subscribed() const { return function_.load() != nullptr; }

  void enable(msptiCallbackDomain domain, bool enabled);
  /// False for a number whose function is not known.
  bool enable(msptiCallbackDomain domain, msptiCallbackId function, bool enabled);
  bool any() const;

  /// A call of the client's with this number begins, or has ended. `name` as clients write it.
  void enter(const char* name, uint64_t number);
  void leave(const char* name, uint64_t number);

 private:
  struct Domain {
    std::atomic<bool> all{false};
    std::array<std::atomic<bool>, 3> functions{};  ///< by number
  };
  bool wants(msptiCallbackDomain domain, msptiCallbackId function) const;
  void call(const char* name, uint64_t number, msptiApiCallbackSite site, uint64_t* shared) const;

  std::array<Domain, MSPTI_CB_DOMAIN_SIZE> domains_{};
  std::atomic<msptiCallbackFunc> function_{nullptr};
  std::atomic<void*> userdata_{nullptr};
};

/// The one of the process, never destroyed.
Callbacks& callbacks();

}  // namespace npu::acl
