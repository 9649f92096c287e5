// SPDX-License-Identifier: Apache-2.0
// What a client asks of one communicator.
#pragma once

#include "acl/include/hccl/hccl_types.h"
#include "comm/rendezvous/join.h"

namespace npu::acl {

/// What acts of `config`; null asks for nothing. Raises kParameter, "EI0001: <field> is …; it is …", for a value
/// outside of its range, also of a field without effect. Fields that end behind config->size are not looked at.
comm::Options options_of(const HcclCommConfig* config);

}  // namespace npu::acl
