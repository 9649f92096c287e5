// SPDX-License-Identifier: Apache-2.0
// operator folder|compile|once|handle|kernel TYPE FOLDER IN=SIZES… / OUT=SIZES… [/ ATTRIBUTE=NUMBERS…]: a single
// operator on FOLDER/input_i.bin; results go to FOLDER/output_i.bin. IN and OUT are types of elements (float, float16,
// int32, int64). `folder` runs what atc --singleop made in FOLDER, `compile` what aclopCompile did, `once` does both in
// a call, `handle` prepares the call; `kernel` brings machine code as programs for operators of their own do.
#include "acl/acl_op_compiler.h"
#include "client.h"

namespace {

aclDataType type_of(const std::string& word) {
  if (word == "float16") return ACL_FLOAT16;
  if (word == "int32") return ACL_INT32;
  if (word == "int64") return ACL_INT64;
  demand(word == "float", word + " is no type");
  return ACL_FLOAT;
}

/// Inputs or outputs: descriptions, memory, buffers.
class Side {
 public:
  ~Side() {
    for (size_t i = 0; i < descs.size(); ++i) {
      aclDestroyDataBuffer(buffers[i]);
      MUST(aclrtFree(memory[i]));
      aclDestroyTensorDesc(descs[i]);
    }
  }
  void add(const std::string& spec) {
    const std::vector<std::string> parts = split(spec, '=');
    const std::vector<int64_t> sizes = numbers(parts.size() > 1 ? parts[1] : "");
    descs.push_back(
        aclCreateTensorDesc(type_of(parts[0]), static_cast<int>(sizes.size()), sizes.data(), ACL_FORMAT_ND));
    void* data = nullptr;
    MUST(aclrtMalloc(&data, size(descs.size() - 1), ACL_MEM_MALLOC_NORMAL_ONLY));
    memory.push_back(data);
    buffers.push_back(aclCreateDataBuffer(data, size(descs.size() - 1)));
  }
  size_t size(size_t i) const { return aclGetTensorDescSize(descs[i]); }
  int count() const { return static_cast<int>(descs.size()); }

  std::vector<aclTensorDesc*> descs;
  std::vector<void*> memory;
  std::vector<aclDataBuffer*> buffers;
};

struct Call {
  std::string type;
  Side inputs, outputs;
  aclopAttr* attr = aclopCreateAttr();
  ~Call() { aclopDestroyAttr(attr); }
};

void set_attribute(aclopAttr* attr, const std::string& spec) {
  const std::vector<std::string> parts = split(spec, '=');
  if (parts[1] == "true" || parts[1] == "false") {
    MUST(aclopSetAttrBool(attr, parts[0].c_str(), parts[1] == "true"));
    return;
  }
  const std::vector<int64_t> values = numbers(parts[1]);
  if (values.size() == 1 && parts[0] == "groups")
    MUST(aclopSetAttrInt(attr, parts[0].c_str(), values[0]));
  else
    MUST(aclopSetAttrListInt(attr, parts[0].c_str(), static_cast<int>(values.size()), values.data()));
}

aclError execute(Call& c, aclrtStream stream) {
  return aclopExecuteV2(c.type.c_str(), c.inputs.count(), c.inputs.descs.data(), c.inputs.buffers.data(),
                        c.outputs.count(), c.outputs.descs.data(), c.outputs.buffers.data(), c.attr, stream);
}

aclError compile(Call& c) {
  return aclopCompile(c.type.c_str(), c.inputs.count(), c.inputs.descs.data(), c.outputs.count(),
                      c.outputs.descs.data(), c.attr, ACL_ENGINE_SYS, ACL_COMPILE_SYS, nullptr);
}

aclError once(Call& c, aclrtStream stream) {
  return aclopCompileAndExecute(c.type.c_str(), c.inputs.count(), c.inputs.descs.data(), c.inputs.buffers.data(),
                                c.outputs.count(), c.outputs.descs.data(), c.outputs.buffers.data(), c.attr,
                                ACL_ENGINE_SYS, ACL_COMPILE_SYS, nullptr, stream);
}

aclError by_handle(Call& c, aclrtStream stream) {
  aclopHandle* handle = nullptr;
  const aclError made = aclopCreateHandle(c.type.c_str(), c.inputs.count(), c.inputs.descs.data(), c.outputs.count(),
                                          c.outputs.descs.data(), c.attr, &handle);
  if (made != ACL_SUCCESS) return made;
  const aclError done = aclopExecWithHandle(handle, c.inputs.count(), c.inputs.buffers.data(), c.outputs.count(),
                                            c.outputs.buffers.data(), stream);
  aclopDestroyHandle(handle);
  return done;
}

void deallocate(void* data, size_t) { delete[] static_cast<char*>(data); }
aclError select_kernel(int, const aclTensorDesc* const*, int, const aclTensorDesc* const*, const aclopAttr*,
                       aclopKernelDesc* kernel) {
  return aclopSetKernelArgs(kernel, "kernel0", 1, nullptr, 0);
}

aclError with_kernel(Call& c) {
  const aclError known = aclopRegisterCompileFunc(c.type.c_str(), select_kernel);
  if (known != ACL_SUCCESS) return known;
  return aclopCreateKernel(c.type.c_str(), "kernel0", "kernel0", new char[16], 16, ACL_ENGINE_AICORE, deallocate);
}

aclError run(const std::string& way, const std::string& folder, Call& call, aclrtStream stream) {
  if (way == "kernel") return with_kernel(call);
  if (way == "once") return once(call, stream);
  if (way == "handle") return by_handle(call, stream);
  if (way == "folder") MUST(aclopSetModelDir(folder.c_str()));
  const aclError ready = way == "compile" ? compile(call) : ACL_SUCCESS;
  return ready == ACL_SUCCESS ? execute(call, stream) : ready;
}

}  // namespace

int main(int argc, char** argv) {
  demand(argc > 4, "operator folder|compile|once|handle|kernel TYPE FOLDER IN=SIZES... / OUT=SIZES... [/ ATTRIBUTES]");
  const std::string folder = argv[3];
  const Session session;
  Call call;
  call.type = argv[2];
  int part = 0;
  for (int i = 4; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "/")
      ++part;
    else if (part == 2)
      set_attribute(call.attr, word);
    else
      (part == 0 ? call.inputs : call.outputs).add(word);
  }
  for (size_t i = 0; i < call.inputs.descs.size(); ++i) {
    const std::vector<char> bytes = read_file(folder + "/input_" + std::to_string(i) + ".bin");
    MUST(
        aclrtMemcpy(call.inputs.memory[i], call.inputs.size(i), bytes.data(), bytes.size(), ACL_MEMCPY_HOST_TO_DEVICE));
  }
  MUST(run(argv[1], folder, call, session.stream()));
  MUST(aclrtSynchronizeStream(session.stream()));
  for (size_t i = 0; i < call.outputs.descs.size(); ++i) {
    std::vector<char> bytes(call.outputs.size(i));
    MUST(aclrtMemcpy(bytes.data(), bytes.size(), call.outputs.memory[i], bytes.size(), ACL_MEMCPY_DEVICE_TO_HOST));
    write_file(folder + "/output_" + std::to_string(i) + ".bin", bytes.data(), bytes.size());
  }
  return 0;
}
