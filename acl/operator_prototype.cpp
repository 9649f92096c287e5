// SPDX-License-Identifier: Apache-2.0
// The one C++ name of the vendor's graph engine that a client calls while it is loaded: torch-npu 2.5 and 2.6 register
// how some operator types are described, for graphs that such an engine would build. Nobody asks for them here: what
// would build a graph of them refuses (acl/unsupported.tsv). It is ge::OperatorCreatorRegister's constructor, from the
// name of a type and a std::function; C linkage gives it its name without a class of the vendor's.
extern "C" __attribute__((visibility("default"))) void
_ZN2ge23OperatorCreatorRegisterC1EPKcRKSt8functionIFNS_8OperatorERKNS_12AscendStringEEE(  // NOLINT
    void* /*self*/, const char* /*type*/, const void* /*creator*/) {}
