// SPDX-License-Identifier: Apache-2.0
// Operators that were compiled before they are run: by aclopCompile, or into files by atc --singleop. Nothing has to be
// compiled here; what counts is that a call finds the operator it was promised, or hears that there is none.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <optional>

#include "acl/call.h"
#include "acl/include/acl/acl_op_compiler.h"
#include "acl/include/anynpu/model.h"
#include "acl/singleop/operator_type.h"
#include "acl/singleop/signature.h"
#include "base/file.h"
#include "base/json.h"
#include "graph/model/container.h"

namespace npu::acl {
namespace {

namespace fs = std::filesystem;
using graph::model::Container;
using graph::model::SectionKind;

constexpr Code kOpLoadFailed{100025};
constexpr const char* kOperator = "single_operator";  // of the note of such a file
constexpr int kDeepest = 3;                           // folders under the one that aclopSetModelDir names

class Compiled {
 public:
  void add(OpSignature op) {
    const std::lock_guard lock(mutex_);
    ops_.push_back(std::move(op));
  }
  /// Raises 100024 when no operator was compiled for this call.
  void require(const OpSignature& call) const {
    const std::lock_guard lock(mutex_);
    if (std::ranges::any_of(ops_, [&](const OpSignature& op) { return op.takes(call); })) return;
    fail(Code::kOpNotFound,
         "no compiled operator fits {}; compile it with aclopCompile, name a folder of atc --singleop by "
         "aclopSetModelDir, or call aclopCompileAndExecute",
         to_string(call));
  }

 private:
  mutable std::mutex mutex_;
  std::vector<OpSignature> ops_;
};
Compiled& compiled() {
  static auto* const one = new Compiled;
  return *one;
}

void check_type(const OpSignature& op) {
  if (find_operator_type(op.type).empty())
    fail(Code::kOpNotFound, "opType {} is not known as a single operator; {}", op.type, types_like(op.type));
}

std::string to_file(const OpSignature& op) {
  const std::vector<std::pair<SectionKind, std::string>> sections = {
      {SectionKind::kNote, Json{{kOperator, to_json(op)}}.dump()}};
  return graph::model::to_container(sections);
}

/// The operator of a file; none for a file of a whole model. Raises 100006 and the like for no such file at all.
OpSignature operator_of(std::span<const std::byte> bytes, const std::string& what) {
  const auto note = Container(bytes).section(SectionKind::kNote);
  const std::string_view text(reinterpret_cast<const char*>(note.data()), note.size());
  const Json said = Json::try_parse(text).value_or(nullptr);
  if (!said.contains(kOperator))
    fail(kOpLoadFailed, "{} holds no single operator; a whole model is loaded by aclmdlLoadFromFile", what);
  OpSignature op = signature_of(said[kOperator], 0);
  check_type(op);
  return op;
}

void load_file(const fs::path& path) {
  const std::optional<std::string> bytes = whole_file(path.string());
  if (!bytes) fail(Code::kInvalidFile, "{} cannot be read: {}", path.string(), std::strerror(errno));
  compiled().add(operator_of(std::as_bytes(std::span(*bytes)), path.string()));
}

size_t load_folder(const fs::path& folder, int deep) {
  size_t count = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.is_directory() && deep < kDeepest) count += load_folder(entry.path(), deep + 1);
    if (!entry.is_regular_file() || entry.path().extension() != ".om") continue;
    load_file(entry.path());
    ++count;
  }
  return count;
}

OpSignature asked(const char* type, int inputs, const aclTensorDesc* const* in, int outputs,
                  const aclTensorDesc* const* out, const aclopAttr* attributes) {
  return signature_of(type, span_of(inputs, in, "inputDesc"), span_of(outputs, out, "outputDesc"), attributes);
}

Json entries_of(const char* text, size_t size) {
  std::optional<Json> found = Json::try_parse({text, size}, Comments::kSkip);
  if (!found) fail(Code::kInvalidParam, "E10025: --singleop: the file is no JSON");
  Json all = *std::move(found);
  if (all.is_object()) all = Json::array({std::move(all)});
  if (!all.is_array() || all.empty())
    fail(Code::kInvalidParam, "E10025: --singleop: the file holds no list of operators");
  return all;
}

}  // namespace
}  // namespace npu::acl

using namespace npu;       // NOLINT: the C functions below are the door itself
using namespace npu::acl;  // NOLINT

aclError aclopCompile(const char* opType, int numInputs, const aclTensorDesc* const inputDesc[], int numOutputs,
                      const aclTensorDesc* const outputDesc[], const aclopAttr* attr, aclopEngineType /*engineType*/,
                      aclopCompileType /*compileFlag*/, const char* /*opPath*/) {
  return call("aclopCompile", [&] {
    OpSignature op = asked(opType, numInputs, inputDesc, numOutputs, outputDesc, attr);
    check_type(op);
    compiled().add(std::move(op));
  });
}

aclError aclopLoad(const void* model, size_t modelSize) {
  return call("aclopLoad", [&] {
    const auto* bytes = static_cast<const std::byte*>(given(model, "model"));
    compiled().add(operator_of({bytes, modelSize}, "the model"));
  });
}

aclError aclopSetModelDir(const char* modelDir) {
  return call("aclopSetModelDir", [&] {
    const fs::path folder = given(modelDir, "modelDir");
    if (!fs::is_directory(folder)) fail(Code::kInvalidFile, "modelDir {} is no folder", folder.string());
    if (load_folder(folder, 0) == 0)
      fail(Code::kInvalidFile, "there is no .om file in {}; atc --singleop makes them", folder.string());
  });
}

aclError aclopExecute(const char* opType, int numInputs, const aclTensorDesc* const inputDesc[],
                      const aclDataBuffer* const inputs[], int numOutputs, const aclTensorDesc* const outputDesc[],
                      aclDataBuffer* const outputs[], const aclopAttr* attr, aclrtStream stream) {
  const aclError found = call(
      "aclopExecute", [&] { compiled().require(asked(opType, numInputs, inputDesc, numOutputs, outputDesc, attr)); });
  return found != ACL_SUCCESS ? found
                              : aclopCompileAndExecute(opType, numInputs, inputDesc, inputs, numOutputs, outputDesc,
                                                       outputs, attr, ACL_ENGINE_SYS, ACL_COMPILE_SYS, nullptr, stream);
}

aclError aclopExecuteV2(const char* opType, int numInputs, aclTensorDesc* inputDesc[], aclDataBuffer* inputs[],
                        int numOutputs, aclTensorDesc* outputDesc[], aclDataBuffer* outputs[], aclopAttr* attr,
                        aclrtStream stream) {
  const aclError found = call(
      "aclopExecuteV2", [&] { compiled().require(asked(opType, numInputs, inputDesc, numOutputs, outputDesc, attr)); });
  return found != ACL_SUCCESS
             ? found
             : aclopCompileAndExecuteV2(opType, numInputs, inputDesc, inputs, numOutputs, outputDesc, outputs, attr,
                                        ACL_ENGINE_SYS, ACL_COMPILE_SYS, nullptr, stream);
}

aclError anynpu_singleop_convert(const char* json_text, size_t size, anynpu_take_file take, void* context) {
  return call("anynpu_singleop_convert", [&] {
    given(take, "take");
    const Json all = entries_of(given(json_text, "json_text"), size);
    std::vector<OpSignature> ops;
    for (const Json& entry : all) {
      ops.push_back(signature_of(entry, ops.size()));
      if (find_operator_type(ops.back().type).empty())
        fail(Code::kInvalidParam, "E10501: --singleop: entry {}: {} is not known as a single operator; {}",
             ops.size() - 1, ops.back().type, types_like(ops.back().type));
    }
    for (size_t i = 0; i < ops.size(); ++i) {
      const std::string name = file_name(ops[i], i) + ".om", bytes = to_file(ops[i]);
      take(name.c_str(), bytes.data(), bytes.size(), context);
    }
  });
}
