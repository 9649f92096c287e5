// SPDX-License-Identifier: Apache-2.0
// What the programs of this folder share: clients of AscendCL, which see its headers and nothing else of ours.
#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "acl/acl.h"

/// Ends the program with what a call that fails says of itself.
inline void must(aclError code, const char* call) {
  if (code == ACL_SUCCESS) return;
  const char* text = aclGetRecentErrMsg();
  std::fprintf(stderr, "%s: %d %s\n", call, code, text == nullptr ? "" : text);
  std::exit(1);
}
#define MUST(call) must((call), #call)

/// A call that must be refused: its code and text go to standard output, for the test to read.
inline void refused(aclError code, const char* call) {
  const char* text = aclGetRecentErrMsg();
  std::printf("%s: %d %s\n", call, code, text == nullptr ? "" : text);
  if (code == ACL_SUCCESS) std::exit(1);
}
#define REFUSED(call) refused((call), #call)

inline void demand(bool holds, const char* text) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", text == nullptr ? "it has no text" : text);
  std::exit(1);
}
inline void demand(bool holds, const std::string& text) { demand(holds, text.c_str()); }

inline std::vector<char> read_file(const std::string& path) {
  std::ifstream file(path.c_str(), std::ios::binary);
  demand(file.good(), path + " cannot be read");
  return std::vector<char>((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
}

inline void write_file(const std::string& path, const void* data, size_t size) {
  std::ofstream file(path.c_str(), std::ios::binary);
  file.write(static_cast<const char*>(data), static_cast<std::streamsize>(size));
  demand(file.good(), path + " cannot be written");
}

inline std::vector<std::string> split(const std::string& text, char by) {
  std::vector<std::string> out;
  size_t from = 0;
  while (!text.empty() && from <= text.size()) {
    const size_t to = std::min(text.find(by, from), text.size());
    out.push_back(text.substr(from, to - from));
    from = to + 1;
  }
  return out;
}

inline std::vector<int64_t> numbers(const std::string& text) {
  std::vector<int64_t> out;
  for (const std::string& word : split(text, ',')) out.push_back(std::atoll(word.c_str()));
  return out;
}

/// Device memory that ends with the object.
class DeviceMemory {
 public:
  explicit DeviceMemory(size_t size) : size_(size) { MUST(aclrtMalloc(&data_, size, ACL_MEM_MALLOC_HUGE_FIRST)); }
  ~DeviceMemory() { aclrtFree(data_); }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  void* data() const { return data_; }
  size_t size() const { return size_; }
  void put(const void* host, size_t size) const {
    MUST(aclrtMemcpy(data_, size_, host, size, ACL_MEMCPY_HOST_TO_DEVICE));
  }
  std::vector<char> get() const { return get(size_); }
  std::vector<char> get(size_t size) const {
    std::vector<char> out(size);
    MUST(aclrtMemcpy(out.data(), size, data_, size, ACL_MEMCPY_DEVICE_TO_HOST));
    return out;
  }

 private:
  void* data_ = nullptr;
  size_t size_;
};

/// The device, a context and a stream of the program's own, and their end in the order that the vendor asks for.
class Session {
 public:
  explicit Session(const char* config = nullptr, int32_t device = 0) : device_(device) {
    MUST(aclInit(config));
    MUST(aclrtSetDevice(device));
    MUST(aclrtCreateContext(&context_, device));
    MUST(aclrtCreateStream(&stream_));
    aclrtRunMode mode;
    MUST(aclrtGetRunMode(&mode));
    demand(mode == ACL_HOST, "the device has its own memory");
  }
  ~Session() {
    MUST(aclrtDestroyStream(stream_));
    MUST(aclrtDestroyContext(context_));
    MUST(aclrtResetDevice(device_));
    MUST(aclFinalize());
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  aclrtContext context() const { return context_; }
  aclrtStream stream() const { return stream_; }

 private:
  int32_t device_;
  aclrtContext context_ = nullptr;
  aclrtStream stream_ = nullptr;
};
