// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/face/listing.h"

#include <chrono>
#include <thread>

#include "tools/profile/trace/collection_fixture.h"

namespace npu::profile {
namespace {

TEST_F(Collection, WaitsUntilAFolderIsListed) {
  write("file", "");
  const Listing listing(folder);
  EXPECT_FALSE(listing.wait(1));
  EXPECT_TRUE(fs::exists(folder / "file"));  // is no listing
  EXPECT_FALSE(listing.wait(1));
  std::thread lister([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    for (const auto& entry : fs::directory_iterator(folder)) static_cast<void>(entry);
  });
  EXPECT_TRUE(listing.wait(60'000));
  lister.join();
  EXPECT_FALSE(Listing("/nowhere").wait(1));
}

}  // namespace
}  // namespace npu::profile
