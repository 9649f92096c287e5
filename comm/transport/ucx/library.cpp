// SPDX-License-Identifier: Apache-2.0
#include "comm/transport/ucx/library.h"

#include <dlfcn.h>
#include <ucs/debug/log_def.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "base/library_folder.h"
#include "base/log.h"
#include "base/setting.h"
#include "comm/core/fault.h"

namespace npu::comm {
namespace {

constexpr char kName[] = "libanynpu_ucp.so";
constexpr char kSystems[] = "libucp.so.0";

// Read by the library's constructor.
const UcxVariables& quiet() {
  static const UcxVariables& variables = *new UcxVariables{{"UCX_MEM_EVENTS", "no"},
                                                           {"UCX_MEM_MMAP_HOOK_MODE", "none"},
                                                           {"UCX_HANDLE_ERRORS", "none"},
                                                           {"UCX_ERROR_SIGNALS", ""},
                                                           {"UCX_WARN_UNUSED_ENV_VARS", "no"}};
  return variables;
}

ucs_log_func_rc_t to_log(const char*, unsigned, const char*, ucs_log_level_t level, const ucs_log_component_config_t*,
                         const char* format, va_list arguments) {
  if (level > UCS_LOG_LEVEL_DIAG) return UCS_LOG_FUNC_RC_STOP;
  char text[1024];
  std::vsnprintf(text, sizeof(text), format, arguments);
  // What breaks a connection is told by the call that needs it.
  NPU_LOG(kInfo, "HCCL", "UCX: {}", text);
  return UCS_LOG_FUNC_RC_STOP;
}

/// The copy beside our own library.
std::string carried() { return library_folder() / kName; }

template <class F>
void find(void* library, const char* name, F* function) {
  *function = reinterpret_cast<F>(dlsym(library, name));
  if (*function == nullptr)
    fault(Result::kUnsupported, "EI0006: {} has no function {}; UCX 1.13 or later is needed: apt-get install libucx0",
          kName, name);
}

Ucx loaded() {
  const UcxEnvironment environment(quiet());
  void* library = dlopen(carried().c_str(), RTLD_NOW | RTLD_LOCAL);
  const std::string reason = library == nullptr ? dlerror() : "";
  if (library == nullptr) library = dlopen(kSystems, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    fault(
        Result::kUnsupported,
        "EI0006: ranks on several hosts talk over UCX, which cannot be loaded ({}); install AnyNPU anew on this host, "
        "or the system's UCX: apt-get install libucx0",
        reason);
  Ucx out;
  find(library, "ucp_config_read", &out.config_read);
  find(library, "ucp_config_release", &out.config_release);
  find(library, "ucp_init_version", &out.init);
  find(library, "ucp_worker_create", &out.worker_create);
  find(library, "ucp_worker_get_address", &out.worker_get_address);
  find(library, "ucp_worker_release_address", &out.worker_release_address);
  find(library, "ucp_worker_set_am_recv_handler", &out.worker_set_am_recv_handler);
  find(library, "ucp_worker_get_efd", &out.worker_get_efd);
  find(library, "ucp_worker_progress", &out.worker_progress);
  find(library, "ucp_worker_arm", &out.worker_arm);
  find(library, "ucp_worker_signal", &out.worker_signal);
  find(library, "ucp_ep_create", &out.ep_create);
  find(library, "ucp_ep_close_nbx", &out.ep_close);
  find(library, "ucp_ep_flush_nbx", &out.ep_flush);
  find(library, "ucp_am_send_nbx", &out.am_send);
  find(library, "ucp_am_recv_data_nbx", &out.am_recv_data);
  find(library, "ucp_am_data_release", &out.am_data_release);
  find(library, "ucp_request_free", &out.request_free);
  find(library, "ucs_status_string", &out.status_string);
  decltype(&::ucs_log_push_handler) push = nullptr;
  find(library, "ucs_log_push_handler", &push);
  push(&to_log);
  return out;
}

}  // namespace

const Ucx& Ucx::get() {
  static const Ucx& library = *new Ucx(loaded());
  return library;
}

UcxEnvironment::UcxEnvironment(const UcxVariables& variables) {
  for (const auto& [name, value] : variables) {
    if (!setting_text(name).empty()) continue;
    setenv(name.c_str(), value.c_str(), 0);
    set_[name] = value;
  }
}

UcxEnvironment::~UcxEnvironment() {
  for (const auto& [name, value] : set_) unsetenv(name.c_str());
}

}  // namespace npu::comm
