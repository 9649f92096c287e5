// SPDX-License-Identifier: Apache-2.0
// Models for tests, put together by hand and converted as atc does it, and the calls that programs make with them.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "acl/include/acl/acl_mdl.h"
#include "acl/runtime/runtime_fixture.h"
#include "graph/convert/convert.h"
#include "graph/graph_fixture.h"

namespace npu::acl {

/// The bytes of the model that `f` is, whose argument has this shape, converted as these flags say.
inline std::string model_of(const graph::TestFunction& f, const Dims& shape, std::vector<graph::Result> results,
                            graph::convert::Flags flags = {}) {
  graph::Function& made = *f.function();
  made.arguments[0].value.shape = made.nodes[0].outputs[0].shape = {shape};
  made.results = std::move(results);
  graph::Imported imported;
  imported.program.add(f.function());
  imported.function = made.name;
  imported.format = "test";
  flags.emplace("precision_mode", "must_keep_origin_dtype");
  return graph::model::to_bytes(graph::convert::convert(std::move(imported), graph::convert::read_request(flags)));
}

/// The bytes of a model: out = x * weight + x (float32) and the sum of out along the last axis.
inline std::string scaled_model(const Dims& shape, const graph::convert::Flags& flags = {}) {
  graph::TestFunction f("main");
  const graph::Edge x = f.argument("x");
  const graph::Edge weight = f.constant<float>({3}, {1, 2, 3}), axis = f.constant<int32_t>({1}, {-1});
  const graph::Edge out = f.node("AddV2", {f.node("Mul", {x, weight}), x}), sum = f.node("Sum", {out, axis});
  f.with<bool>(sum, "keep_dims", false);
  return model_of(f, shape, {{"out", out}, {"sum", sum}}, flags);
}

/// A file that ends with the object.
class ModelPath {
 public:
  explicit ModelPath(const std::string& bytes, const std::string& name = "model") {
    static int count = 0;
    path_ = std::filesystem::temp_directory_path() /
            (name + std::to_string(getpid()) + "_" + std::to_string(++count) + ".om");
    std::ofstream(path_, std::ios::binary) << bytes;
  }
  ~ModelPath() { std::filesystem::remove(path_); }
  ModelPath(const ModelPath&) = delete;
  ModelPath& operator=(const ModelPath&) = delete;
  const char* get() const { return path_.c_str(); }

 private:
  std::filesystem::path path_;
};

/// A data set of device buffers that ends with the object.
class Dataset {
 public:
  Dataset() : set_(aclmdlCreateDataset()) {}
  ~Dataset() {
    for (size_t i = 0; i < aclmdlGetDatasetNumBuffers(set_); ++i) aclDestroyDataBuffer(aclmdlGetDatasetBuffer(set_, i));
    aclmdlDestroyDataset(set_);
  }
  Dataset(const Dataset&) = delete;
  Dataset& operator=(const Dataset&) = delete;
  Dataset& add(void* data, size_t size) {
    EXPECT_OK(aclmdlAddDatasetBuffer(set_, aclCreateDataBuffer(data, size)));
    return *this;
  }
  Dataset& add(const Memory& memory) { return add(memory.get(), memory.bytes()); }
  operator aclmdlDataset*() const { return set_; }  // NOLINT: reads as the argument

 private:
  aclmdlDataset* set_;
};

inline void write(const Memory& memory, const std::vector<float>& numbers) {
  const size_t bytes = numbers.size() * sizeof(float);
  EXPECT_OK(aclrtMemcpy(memory.get(), memory.bytes(), numbers.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE));
}

inline std::vector<float> floats(const void* device, size_t count) {
  std::vector<float> out(count);
  EXPECT_OK(aclrtMemcpy(out.data(), count * 4, device, count * 4, ACL_MEMCPY_DEVICE_TO_HOST));
  return out;
}

}  // namespace npu::acl
