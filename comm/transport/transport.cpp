// SPDX-License-Identifier: Apache-2.0
#include "comm/transport/transport.h"

#include "comm/core/fault.h"

namespace npu::comm {

void Transport::raise() const {
  const Reason why = reason();
  throw Fault(static_cast<Result>(why.result), why.text);
}

}  // namespace npu::comm
