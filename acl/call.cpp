// SPDX-License-Identifier: Apache-2.0
#include "acl/call.h"

#include <new>

#include "acl/error_state.h"
#include "acl/include/acl/acl_rt.h"

namespace npu::acl {
namespace {

Error unexpected(const char* text) {
  return Error(Code::kInternal, fmt::format("{}; this is a fault of the library, please report it", text));
}

}  // namespace

aclError refuse_current(const char* function, Code answer) noexcept {
  try {
    try {
      throw;
    } catch (const Error& error) {
      return set_error(error, function, error.code() == answer ? LogLevel::kInfo : LogLevel::kError);
    } catch (const std::bad_alloc&) {
      return set_error(Error(Code::kBadAlloc, "host memory is used up; close other programs or use less"), function);
    } catch (const std::exception& error) {
      return set_error(unexpected(error.what()), function);
    } catch (...) {
      return set_error(unexpected("an exception of unknown type was raised"), function);
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
