// SPDX-License-Identifier: Apache-2.0
#include "graph/dump/tensor/blob.h"

#include <gtest/gtest.h>

namespace npu::graph {
namespace {

class Blobs : public ::testing::Test {
 protected:
  void SetUp() override { free_kept_blobs(); }
  void TearDown() override { free_kept_blobs(); }
};

TEST_F(Blobs, TakeWhatWasGivenBackWhereItFits) {
  const std::byte* first = nullptr;
  {
    const Blob blob(1 << 20);
    first = blob.bytes.get();
  }
  EXPECT_EQ(kept_blobs(), size_t{1} << 20);
  EXPECT_NE(Blob(1 << 18).bytes.get(), first);  // it would waste most of it
  const Blob fits((1 << 20) - 5);
  EXPECT_EQ(fits.bytes.get(), first);
  EXPECT_EQ(fits.size, size_t{(1 << 20) - 5});
  const Blob another((1 << 20) - 5);
  EXPECT_NE(another.bytes.get(), first);
}

TEST_F(Blobs, AreNotKeptBeyondTheBound) {
  { const Blob larger(kMostKeptBlobs + 1); }
  EXPECT_EQ(kept_blobs(), 0u);
  { const Blob one(kMostKeptBlobs), two(kMostKeptBlobs), small(100); }
  EXPECT_EQ(kept_blobs(), kMostKeptBlobs);
  free_kept_blobs();
  EXPECT_EQ(kept_blobs(), 0u);
}

}  // namespace
}  // namespace npu::graph
