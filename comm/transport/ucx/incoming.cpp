// SPDX-License-Identifier: Apache-2.0
#include "comm/transport/ucx/incoming.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

namespace npu::comm {

Incoming::~Incoming() {
  for (const Piece& piece : waiting_)
    if (piece.token != nullptr) wire_.drop(piece.token);
  for (const TransferPtr& each : fetched_) each->then = nullptr;
}

void Incoming::add(const Head& head, std::span<const std::byte> data, uint64_t bytes, void* token) {
  if (!came_) {  // the same in all pieces, and read without the lock once there is one
    call_ = head.call;
    bytes_ = head.bytes;
    came_ = true;
  }
  if (token == nullptr && fits_place()) {
    put(head.offset, data);
    placed_ += bytes;
  } else {
    waiting_.push_back({head.offset, bytes, {data.begin(), data.end()}, token});
  }
}

void Incoming::expect(const Call& call, std::byte* to, uint64_t bytes, const Merge* with) {
  expected_call_ = call;
  if (with != nullptr) with_ = *with;
  to_ = to;
  room_ = bytes;
  expected_ = true;
  settle();
}

void Incoming::settle() {
  if (!fits_place()) return;
  for (Piece& piece : std::exchange(waiting_, {})) {
    if (piece.token != nullptr)
      fetch(piece);
    else
      put(piece.offset, piece.held);
    placed_ += piece.bytes;
  }
}

void Incoming::put(uint64_t offset, std::span<const std::byte> data) {
  if (data.empty()) return;
  if (with_) return merge(*with_, to_, offset, data);
  std::memcpy(to_ + offset, data.data(), data.size());
}

/// To its place, or, where it is combined with what is there, to one beside it.
void Incoming::fetch(const Piece& piece) {
  const auto beside = std::make_shared<std::vector<std::byte>>(with_ ? piece.bytes : 0);
  std::byte* const to = with_ ? beside->data() : to_ + piece.offset;
  fetched_.push_back(wire_.fetch(piece.token, to, piece.bytes, [this, beside, offset = piece.offset] {
    from_.heard_ms = Wire::now_ms();
    put(offset, *beside);
  }));
}

bool Incoming::there() const {
  if (!came_ || !expected_ || !fits(call_, expected_call_)) return false;
  if (bytes_ != room_) return true;
  return placed_ == bytes_ && waiting_.empty() &&
         std::ranges::all_of(fetched_, [](const TransferPtr& each) { return each->done && !each->failed; });
}

bool Incoming::under_way() const {
  return std::ranges::any_of(fetched_, [](const TransferPtr& each) { return !each->done; });
}

}  // namespace npu::comm
