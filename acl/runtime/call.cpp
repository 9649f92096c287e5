// SPDX-License-Identifier: Apache-2.0
#include "acl/runtime/call.h"

#include <new>

#include "acl/error_state.h"
#include "acl/include/acl/acl_rt.h"
#include "base/log.h"

namespace npu::acl {
namespace {

aclError keep(const Error& error, const char* function) {
  const aclError code = set_error(error, function);
  NPU_LOG(kInfo, "ASCENDCL", "{} returns {}: {}", function, code, error.message());
  return code;
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
    return static_cast<aclError>(Code::kBadAlloc);
  }
}

}  // namespace npu::acl

using namespace npu::acl;  // NOLINT: the C functions below are the door itself

aclError aclrtPeekAtLastError(aclrtLastErrLevel) { return last_error(); }

aclError aclrtGetLastError(aclrtLastErrLevel) {
  const aclError code = last_error();
  clear_last_error();
  return code;
}
