// SPDX-License-Identifier: Apache-2.0
// Words the tests of the C interface share.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "acl/include/acl/acl.h"
#include "acl/include/acl/acl_op_compiler.h"

namespace npu::acl {

/// Expects code 0, and shows the text when it is not.
#define EXPECT_OK(call) EXPECT_EQ((call), 0) << aclGetRecentErrMsg()
#define ASSERT_OK(call) ASSERT_EQ((call), 0) << aclGetRecentErrMsg()

/// A test that works on device 0.
class OnDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK(aclrtSetDevice(0));
    aclGetRecentErrMsg();
  }
};

/// Device memory that ends with the object.
class Memory {
 public:
  explicit Memory(size_t bytes) : bytes_(bytes) { EXPECT_OK(aclrtMalloc(&address_, bytes, ACL_MEM_MALLOC_HUGE_FIRST)); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() { EXPECT_OK(aclrtFree(address_)); }
  void* get() const { return address_; }
  std::byte* at(size_t offset) const { return static_cast<std::byte*>(address_) + offset; }
  size_t bytes() const { return bytes_; }

  /// The content, through a synchronous copy.
  std::vector<uint8_t> read() const {
    std::vector<uint8_t> out(bytes_);
    EXPECT_OK(aclrtMemcpy(out.data(), bytes_, address_, bytes_, ACL_MEMCPY_DEVICE_TO_HOST));
    return out;
  }

 private:
  void* address_ = nullptr;
  size_t bytes_;
};

/// A stream that ends with the object.
class OwnStream {
 public:
  OwnStream() { EXPECT_OK(aclrtCreateStream(&stream_)); }
  OwnStream(const OwnStream&) = delete;
  OwnStream& operator=(const OwnStream&) = delete;
  ~OwnStream() { EXPECT_OK(aclrtDestroyStream(stream_)); }
  operator aclrtStream() const { return stream_; }  // NOLINT: reads as the argument

 private:
  aclrtStream stream_ = nullptr;
};

}  // namespace npu::acl
