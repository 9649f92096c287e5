// SPDX-License-Identifier: Apache-2.0
// The buffers of a client of mspti: filled by whoever has a record, given back when full, by a thread of ours, or when
// the client flushes, by its own. The client's functions are never called with a lock held.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <set>

#include "acl/include/mspti/mspti.h"

namespace npu::acl {

class ActivityBuffers {
 public:
  void use(msptiBuffersCallbackRequestFunc request, msptiBuffersCallbackCompleteFunc complete);
  bool usable();

  /// Copies a record (`bytes`, a multiple of 8) into a buffer, or counts it as dropped.
  void add(const void* record, size_t bytes);
  /// Gives back all buffers that have records, and returns when the client has them, also those that another thread is
  /// just giving back. Called by the client's own function while it takes one, it does not wait for others.
  void flush();
  /// Records that no buffer had room for, since the last call.
  size_t take_dropped();

 private:
  struct Buffer {
    uint8_t* place = nullptr;
    size_t size = 0, most = 0;  ///< `most` records, 0: no limit
    size_t used = 0, records = 0;
    bool holds(size_t bytes) const { return size - used >= bytes && (most == 0 || records < most); }
  };

  bool put(const void* record, size_t bytes);  ///< with the lock
  void retire();                               ///< the current buffer is full; with the lock
  bool deliver_one();
  void serve();

  std::mutex mutex_;
  std::condition_variable changed_, given_back_;
  msptiBuffersCallbackRequestFunc request_ = nullptr;
  msptiBuffersCallbackCompleteFunc complete_ = nullptr;
  Buffer current_;
  std::deque<Buffer> full_;
  std::set<uint64_t> under_way_;  // numbers of buffers that are being given back
  uint64_t number_ = 0;           // of the next one
  size_t dropped_ = 0;
  bool served_ = false;
};

}  // namespace npu::acl
