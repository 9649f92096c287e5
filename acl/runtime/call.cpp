// SPDX-License-Identifier: Apache-2.0
#include "acl/runtime/call.h"

#include <new>

#include "acl/error_state.h"
#include "acl/include/acl/acl_rt.h"
#include "base/log.h"

namespace npu::acl {
namespace {

thread_local constinit aclError thread_last_error = ACL_SUCCESS;

aclError keep(const Error& error, const char* function) {
  thread_last_error = set_error(error, function);
  NPU_LOG(kInfo, "ASCENDCL", "{} returns {}: {}", function, thread_last_error, error.message());
  return thread_last_error;
}

aclError keep_unexpected(const char* text, const char* function) {
  return keep(Error(Code::kInternal, fmt::format("{}; this is a fault of the library, please report it", text)),
              function);
}

}  // namespace

aclError refuse_current(const char* function) noexcept {
  try {
    try {
      throw;
    } catch (const Error& error) {
      return keep(error, function);
    } catch (const std::bad_alloc&) {
      return keep(Error(Code::kBadAlloc, "host memory is used up; close other programs or use less"), function);
    } catch (const std::exception& error) {
      return keep_unexpected(error.what(), function);
    } catch (...) {
      return keep_unexpected("an exception of unknown type was raised", function);
    }
  } catch (...) {  // no memory for the text either
    return thread_last_error = static_cast<aclError>(Code::kBadAlloc);
  }
}

aclError last_error() noexcept { return thread_last_error; }
void clear_last_error() noexcept { thread_last_error = ACL_SUCCESS; }

}  // namespace npu::acl

using namespace npu::acl;  // NOLINT: the C functions below are the door itself

aclError aclrtPeekAtLastError(aclrtLastErrLevel) { return last_error(); }

aclError aclrtGetLastError(aclrtLastErrLevel) {
  const aclError code = last_error();
  clear_last_error();
  return code;
}
