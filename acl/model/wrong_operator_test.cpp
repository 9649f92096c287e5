// SPDX-License-Identifier: Apache-2.0
// Wrong uses of single operators: types, attributes, element types, formats, descriptions, buffers, what is not
// compiled.
#include <iostream>

#include "acl/include/acl/acl_op.h"
#include "acl/model/wrong_use_fixture.h"

namespace npu::acl {
namespace {

/// Two inputs and an output of an operator, each with what may be wrong of it.
struct Call {
  const Memory memory{64};
  aclTensorDesc* descs[3];
  aclDataBuffer* buffers[3];
  aclopAttr *attr = aclopCreateAttr(), *dead_attr = nullptr;
  aclTensorDesc* dead_desc = nullptr;
  aclDataBuffer *dead_buffer = nullptr, *small = aclCreateDataBuffer(memory.get(), 4);
  aclDataBuffer* of_host;
  std::vector<std::byte> host = std::vector<std::byte>(16);
  aclopHandle *handle = nullptr, *dead_handle = nullptr;
  aclrtStream dead_stream = nullptr;

  Call() {
    for (aclTensorDesc*& desc : descs) desc = tensor({4});
    for (size_t i = 0; i < 3; ++i) buffers[i] = aclCreateDataBuffer(memory.at(i * 16), 16);
    of_host = aclCreateDataBuffer(host.data(), host.size());
    for (aclopHandle** one : {&handle, &dead_handle})
      EXPECT_OK(aclopCreateHandle("Add", 2, descs, 1, descs + 2, nullptr, one));
    aclDestroyTensorDesc(dead_desc = tensor({4}));
    aclopDestroyAttr(dead_attr = aclopCreateAttr());
    aclopDestroyHandle(dead_handle);
    EXPECT_OK(aclDestroyDataBuffer(dead_buffer = aclCreateDataBuffer(nullptr, 0)));
    EXPECT_OK(aclrtCreateStream(&dead_stream));
    EXPECT_OK(aclrtDestroyStream(dead_stream));
  }
  ~Call() {
    for (size_t i = 0; i < 3; ++i) aclDestroyTensorDesc(descs[i]), aclDestroyDataBuffer(buffers[i]);
    for (aclDataBuffer* one : {small, of_host}) aclDestroyDataBuffer(one);
    aclopDestroyAttr(attr);
    aclopDestroyHandle(handle);
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  static aclTensorDesc* tensor(const std::vector<int64_t>& sizes, aclDataType type = ACL_FLOAT,
                               aclFormat format = ACL_FORMAT_ND) {
    return aclCreateTensorDesc(type, static_cast<int>(sizes.size()), sizes.data(), format);
  }
  aclError run(const char* type, const aclopAttr* attributes = nullptr, aclrtStream stream = nullptr) {
    return aclopCompileAndExecute(type, 2, descs, buffers, 1, descs + 2, buffers + 2, attributes, ACL_ENGINE_SYS,
                                  ACL_COMPILE_SYS, nullptr, stream);
  }
  /// Add with another description or buffer in the first input's place.
  aclError with(const aclTensorDesc* desc, const aclDataBuffer* buffer) const {
    const aclTensorDesc* inputs[] = {desc, descs[1]};
    const aclDataBuffer* data[] = {buffer, buffers[1]};
    return aclopCompileAndExecute("Add", 2, inputs, data, 1, descs + 2, buffers + 2, nullptr, ACL_ENGINE_SYS,
                                  ACL_COMPILE_SYS, nullptr, nullptr);
  }
  /// Add of a first input of other sizes, element type or format.
  aclError of(const std::vector<int64_t>& sizes, aclDataType type = ACL_FLOAT, aclFormat format = ACL_FORMAT_ND) const {
    const aclTensorDesc* desc = tensor(sizes, type, format);
    const aclError code = with(desc, buffers[0]);
    aclDestroyTensorDesc(desc);
    return code;
  }
  aclError given(const char* name, int64_t value) {
    EXPECT_OK(aclopSetAttrInt(attr, name, value));
    return run("Add", attr);
  }
};

using Uses = std::vector<WrongUse>;

Uses wrong_calls(Call& c) {
  return {
      {"a type that is not known", 100024, {"Quantum", "aclnn function"}, [&] { return c.run("Quantum"); }},
      {"no type", 100000, {"opType is null"}, [&] { return c.run(nullptr); }},
      {"an attribute that is not known",
       100000,
       {"Add has no attribute angle", "leave it out"},
       [&] { return c.given("angle", 3); }},
      {"destroyed attributes", 100000, {"attr", "destroyed"}, [&] { return c.run("Add", c.dead_attr); }},
      {"sizes that do not fit", 161002, {"3", "4"}, [&] { return c.of({3}); }},
      {"an element type that there is not",
       100026,
       {"dataType 99"},
       [&] { return c.of({4}, static_cast<aclDataType>(99)); }},  // NOLINT: a C program may
      {"no element type", 100000, {"input 0 of Add", "no data type"}, [&] { return c.of({4}, ACL_DT_UNDEFINED); }},
      {"a format that is not read",
       100000,
       {"format 12", "ND, NCHW"},
       [&] { return c.of({4}, ACL_FLOAT, static_cast<aclFormat>(12)); }},
      {"sizes that are not known", 100000, {"unknown sizes", "true sizes"}, [&] { return c.of({-1}); }},
      {"a small buffer", 100000, {"needs 16 bytes", "larger buffer"}, [&] { return c.with(c.descs[0], c.small); }},
      {"host memory",
       107000,
       {"input 0", "host address", "aclrtMalloc"},
       [&] { return c.with(c.descs[0], c.of_host); }},
      {"a destroyed description", 100000, {"input 0", "destroyed"}, [&] { return c.with(c.dead_desc, c.buffers[0]); }},
      {"a destroyed buffer", 100000, {"input 0", "destroyed"}, [&] { return c.with(c.descs[0], c.dead_buffer); }},
      {"a null description", 100000, {"input 0 is null"}, [&] { return c.with(nullptr, c.buffers[0]); }},
      {"a null buffer", 100000, {"input 0 is null"}, [&] { return c.with(c.descs[0], nullptr); }},
      {"a buffer as a description",
       100000,
       {"input 0", "another kind"},
       [&] { return c.with(reinterpret_cast<aclTensorDesc*>(c.buffers[0]), c.buffers[0]); }},
      {"a destroyed stream", 107017, {"stream"}, [&] { return c.run("Add", nullptr, c.dead_stream); }},
      {"too few inputs",
       100000,
       {"Add takes 2 inputs, got 1"},
       [&] {
         return aclopCompileAndExecute("Add", 1, c.descs, c.buffers, 1, c.descs + 2, c.buffers + 2, nullptr,
                                       ACL_ENGINE_SYS, ACL_COMPILE_SYS, nullptr, nullptr);
       }},
      {"a negative number",
       100000,
       {"-1", "negative"},
       [&] {
         return aclopCompileAndExecute("Add", -1, c.descs, c.buffers, 1, c.descs + 2, c.buffers + 2, nullptr,
                                       ACL_ENGINE_SYS, ACL_COMPILE_SYS, nullptr, nullptr);
       }},
  };
}

Uses wrong_preparations(Call& c) {
  return {
      {"what was not compiled",
       100024,
       {"no compiled operator fits Sub(float32[4]", "aclopCompile", "aclopSetModelDir"},
       [&] { return aclopExecute("Sub", 2, c.descs, c.buffers, 1, c.descs + 2, c.buffers + 2, nullptr, nullptr); }},
      {"an unknown type compiled",
       100024,
       {"Quantum"},
       [&] {
         return aclopCompile("Quantum", 2, c.descs, 1, c.descs + 2, nullptr, ACL_ENGINE_SYS, ACL_COMPILE_SYS, nullptr);
       }},
      {"a folder that is not there", 100003, {"/nowhere", "no folder"}, [] { return aclopSetModelDir("/nowhere"); }},
      {"null as a folder", 100000, {"modelDir is null"}, [] { return aclopSetModelDir(nullptr); }},
      {"null as an operator's bytes", 100000, {"model is null"}, [] { return aclopLoad(nullptr, 8); }},
      {"a handle of an unknown type",
       100024,
       {"Quantum"},
       [&] { return aclopCreateHandle("Quantum", 2, c.descs, 1, c.descs + 2, nullptr, &c.dead_handle); }},
      {"a handle into null",
       100000,
       {"handle is null"},
       [&] { return aclopCreateHandle("Add", 2, c.descs, 1, c.descs + 2, nullptr, nullptr); }},
      {"a destroyed handle",
       100000,
       {"handle", "destroyed"},
       [&] { return aclopExecWithHandle(c.dead_handle, 2, c.buffers, 1, c.buffers + 2, nullptr); }},
      {"a handle with fewer inputs",
       100000,
       {"made for 2 inputs"},
       [&] { return aclopExecWithHandle(c.handle, 1, c.buffers, 1, c.buffers + 2, nullptr); }},
      {"an attribute without a name",
       100000,
       {"attrName is null"},
       [&] { return aclopSetAttrInt(c.attr, nullptr, 1); }},
      {"an attribute of a destroyed set",
       100000,
       {"attr", "destroyed"},
       [&] { return aclopSetAttrInt(c.dead_attr, "a", 1); }},
      {"a text that is null", 100000, {"attrValue is null"}, [&] { return aclopSetAttrString(c.attr, "a", nullptr); }},
      {"a list of a negative length",
       100000,
       {"-1", "negative"},
       [&] { return aclopSetAttrListInt(c.attr, "a", -1, nullptr); }},
      {"a size of -3",
       100000,
       {"dims[0] is -3", "-1: known later"},
       [&] {
         const int64_t wrong[] = {-3};
         return aclSetTensorShape(c.descs[0], 1, wrong);
       }},
      {"constant values of no bytes",
       100000,
       {"length is 0"},
       [&] { return aclSetTensorConst(c.descs[0], c.host.data(), 0); }},
      {"memory of no kind",
       100000,
       {"memType is 7", "0 (device)"},
       [&] { return aclSetTensorPlaceMent(c.descs[0], static_cast<aclMemType>(7)); }},  // NOLINT: a C program may
      {"a kernel of the client",
       207000,
       {"device kernels", "compiled for an NPU", "aclopCompileAndExecute"},
       [] { return aclopSetKernelArgs(nullptr, "kernel", 1, nullptr, 0); }},
      {"the sizes of a type without a rule",
       207000,
       {"Conv2D", "describe its outputs"},
       [&] {
         aclTensorDesc* outputs[] = {c.descs[2]};
         return aclopInferShape("Conv2D", 2, c.descs, c.buffers, 1, outputs, nullptr);
       }},
      {"a flag of the compiler",
       100000,
       {"flag is 5", "0 (default)"},
       [] { return aclopSetCompileFlag(static_cast<aclOpCompileFlag>(5)); }},  // NOLINT: a C program may
  };
}

using WrongOperators = OnDevice;

TEST_F(WrongOperators, AreToldByCodeAndText) {
  Call c;
  const size_t count = expect_refused(wrong_calls(c)) + expect_refused(wrong_preparations(c));
  std::cout << count << " wrong uses of single operators are told\n";
  EXPECT_GE(count, 35U);
  EXPECT_OK(c.run("Add")) << "and the next call is right";
  EXPECT_OK(aclrtSynchronizeStream(nullptr));
}

}  // namespace
}  // namespace npu::acl
