// SPDX-License-Identifier: Apache-2.0
// UCX (libucp), loaded when ranks are on several hosts and not before. Loaded so, it hooks no allocation, takes no
// signal of the process, and writes its messages to the log.
#pragma once

#include <ucp/api/ucp.h>

#include <map>
#include <string>

namespace npu::comm {

/// UCX's variables (UCX_TLS …) by name; those that the environment sets count instead.
using UcxVariables = std::map<std::string, std::string>;

/// The functions of the library.
struct Ucx {
  decltype(&::ucp_config_read) config_read;
  decltype(&::ucp_config_release) config_release;
  decltype(&::ucp_init_version) init;
  decltype(&::ucp_worker_create) worker_create;
  decltype(&::ucp_worker_get_address) worker_get_address;
  decltype(&::ucp_worker_release_address) worker_release_address;
  decltype(&::ucp_worker_set_am_recv_handler) worker_set_am_recv_handler;
  decltype(&::ucp_worker_get_efd) worker_get_efd;
  decltype(&::ucp_worker_progress) worker_progress;
  decltype(&::ucp_worker_arm) worker_arm;
  decltype(&::ucp_worker_signal) worker_signal;
  decltype(&::ucp_ep_create) ep_create;
  decltype(&::ucp_ep_close_nbx) ep_close;
  decltype(&::ucp_ep_flush_nbx) ep_flush;
  decltype(&::ucp_am_send_nbx) am_send;
  decltype(&::ucp_am_recv_data_nbx) am_recv_data;
  decltype(&::ucp_am_data_release) am_data_release;
  decltype(&::ucp_request_free) request_free;
  decltype(&::ucs_status_string) status_string;

  /// Loads it once. Raises kUnsupported with what to install where it is not there.
  static const Ucx& get();
};

/// While it lives, the process's environment has these variables, where it does not set them itself: UCX reads them
/// when it is loaded and when a context and a worker are made.
class UcxEnvironment {
 public:
  explicit UcxEnvironment(const UcxVariables& variables);
  ~UcxEnvironment();
  UcxEnvironment(const UcxEnvironment&) = delete;
  UcxEnvironment& operator=(const UcxEnvironment&) = delete;

 private:
  UcxVariables set_;
};

}  // namespace npu::comm
