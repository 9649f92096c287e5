// SPDX-License-Identifier: Apache-2.0
// A model with its buffers, as the programs of this folder use it.
#pragma once

#include <memory>

#include "client.h"

/// A data set over device memory of its own.
class Buffers {
 public:
  Buffers() : set_(aclmdlCreateDataset()) { demand(set_ != nullptr, "no data set"); }
  ~Buffers() {
    for (size_t i = 0; i < aclmdlGetDatasetNumBuffers(set_); ++i) aclDestroyDataBuffer(aclmdlGetDatasetBuffer(set_, i));
    aclmdlDestroyDataset(set_);
  }
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;
  void add(size_t size) {
    memory_.emplace_back(new DeviceMemory(size));
    MUST(aclmdlAddDatasetBuffer(set_, aclCreateDataBuffer(memory_.back()->data(), size)));
  }
  aclmdlDataset* set() const { return set_; }
  const DeviceMemory& memory(size_t i) const { return *memory_[i]; }

 private:
  aclmdlDataset* set_;
  std::vector<std::unique_ptr<DeviceMemory>> memory_;
};

/// Loaded in one of the ways that there are: "file", "memory", or "own", with work memory and weights of the program.
class Model {
 public:
  Model(const std::string& path, const std::string& way) {
    if (way == "memory") {
      const std::vector<char> bytes = read_file(path);
      MUST(aclmdlLoadFromMem(bytes.data(), bytes.size(), &id_));
    } else if (way == "own") {
      size_t work = 0, weights = 0;
      MUST(aclmdlQuerySize(path.c_str(), &work, &weights));
      work_.reset(new DeviceMemory(work)), weights_.reset(new DeviceMemory(weights));
      MUST(aclmdlLoadFromFileWithMem(path.c_str(), &id_, work_->data(), work, weights_->data(), weights));
    } else {
      MUST(aclmdlLoadFromFile(path.c_str(), &id_));
    }
    desc_ = aclmdlCreateDesc();
    MUST(aclmdlGetDesc(desc_, id_));
  }
  ~Model() {
    MUST(aclmdlUnload(id_));
    MUST(aclmdlDestroyDesc(desc_));
  }
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  uint32_t id() const { return id_; }
  aclmdlDesc* desc() const { return desc_; }
  void make_inputs(Buffers* buffers) const {
    for (size_t i = 0; i < aclmdlGetNumInputs(desc_); ++i) buffers->add(aclmdlGetInputSizeByIndex(desc_, i));
  }
  void make_outputs(Buffers* buffers) const {
    for (size_t i = 0; i < aclmdlGetNumOutputs(desc_); ++i) buffers->add(aclmdlGetOutputSizeByIndex(desc_, i));
  }
  /// The bytes of an output of the size that is in force now.
  std::vector<char> output(const Buffers& buffers, size_t i) const {
    aclmdlIODims dims;
    MUST(aclmdlGetCurOutputDims(desc_, i, &dims));
    size_t size = aclDataTypeSize(aclmdlGetOutputDataType(desc_, i));
    for (size_t k = 0; k < dims.dimCount; ++k) size *= static_cast<size_t>(dims.dims[k]);
    return buffers.memory(i).get(size);
  }

 private:
  uint32_t id_ = 0;
  aclmdlDesc* desc_ = nullptr;
  std::unique_ptr<DeviceMemory> work_, weights_;
};
