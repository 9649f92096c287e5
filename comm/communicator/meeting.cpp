// SPDX-License-Identifier: Apache-2.0
#include "comm/communicator/meeting.h"

#include <fmt/format.h>
#include <hwy/cache_control.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "comm/core/reduce.h"
#include "comm/transport/shared_memory/peer_memory.h"
#include "device/memory.h"

namespace npu::comm {
namespace {

/// What a rank sends in all, if it sends anything.
uint64_t sent_bytes(const Call& call, uint32_t ranks) {
  return call.row().sends_parts ? call.bytes() * ranks : call.bytes();
}

// Looks at the others' counters before the first pause, which lasts as long as a line needs to come.
constexpr int kAtOnce = 100;

/// The call that most ranks make; of several, that of the lowest rank.
uint32_t typical(const std::vector<const Call*>& calls) {
  uint32_t best = 0;
  int64_t most = 0;
  for (uint32_t i = 0; i < calls.size(); ++i) {
    const auto same = std::ranges::count_if(calls, [&](const Call* each) { return fits(*calls[i], *each); });
    if (same > most) best = i, most = same;
  }
  return best;
}

}  // namespace

// A rank shows all that it sends. Where ranks share the work, only the full mesh is done in the posts.
bool is_small(const Call& call, uint32_t ranks) {
  const CollectiveDef& row = call.row();
  return row.posts && (!row.shares || call.algorithm == Algorithm::kFullMesh) &&
         sent_bytes(call, ranks) <= kInlineBytes;
}

Meeting::StandIn::~StandIn() {
  if (memory != nullptr) device::deallocate(memory);
}

Meeting::Meeting(Communicator& communicator, const Call& call, const Buffers& buffers, const Parts& parts)
    : communicator_(communicator),
      call_(call),
      buffers_(buffers),
      parts_(parts),
      small_(is_small(call, communicator.size())),
      tiny_(small_ && sent_bytes(call, communicator.size()) <= kTinyBytes),
      target_(communicator.board().row(communicator.rank()).phase.value.load(std::memory_order_relaxed) + 1),
      parity_((communicator.board().row(communicator.rank()).calls.load(std::memory_order_relaxed) + 1) & 1) {
  show();
  come();
  if (!idle()) compare();
}

Post& Meeting::post(uint32_t rank) const { return communicator_.board().row(rank).posts[parity_]; }

void Meeting::show() {
  Post& own = communicator_.board().row(rank()).posts[parity_];
  own.call = call_;
  std::ranges::copy(parts_.sent, communicator_.board().extents(rank(), parity_));
  if (small_) {
    if (buffers_.send != nullptr)
      std::memcpy(tiny_ ? own.tiny : own.data, device::resolve(buffers_.send, buffers_.send_bytes),
                  buffers_.send_bytes);
    return;
  }
  own.send = named(buffers_.send, buffers_.send_bytes, send_);
  own.recv = named(buffers_.recv, buffers_.recv_bytes, recv_);
}

BufferName Meeting::named(const void* buffer, uint64_t bytes, StandIn& stand_in) {
  const BufferName name = name_of(buffer, bytes);
  if (name.segment != 0 || buffer == nullptr || bytes == 0) return name;
  stand_in.memory = device::allocate(communicator_.device(), bytes);
  copy(static_cast<std::byte*>(device::resolve(stand_in.memory, bytes)),
       static_cast<const std::byte*>(device::resolve(buffer, bytes)), bytes);
  return name_of(stand_in.memory, bytes);
}

// Those who come together find each other within a moment, and then nobody sleeps who must be woken.
void Meeting::come() {
  Row& own = communicator_.board().row(rank());
  own.phase.value.store(target_, std::memory_order_relaxed);  // nobody waits for this phase there
  Counter& come = own.posts[parity_].come;
  if (idle()) return come.set(target_);
  come.publish(target_);
  uint32_t others = 1;
  for (int i = 0; i < communicator_.spin().pauses; ++i) {
    while (others < size() && post(next(others)).come.reached(target_)) ++others;
    if (others == size()) return come.wake_sleepers();
    if (i >= kAtOnce) hwy::Pause();
  }
  come.wake_sleepers();
  await_others([](Row& row, uint32_t parity) -> Counter& { return row.posts[parity].come; }, target_);
}

void Meeting::await(uint32_t other, Counter& counter, uint32_t target) {
  try {
    communicator_.wait(counter, target, other, [this] { return describe(call_); });
  } catch (...) {
    await_writers();  // others may have seen that all have come
    throw;
  }
}

void Meeting::await_others(Counter& (*counter)(Row&, uint32_t parity), uint32_t target) {
  for (uint32_t i = 1; i < size(); ++i) await(next(i), counter(communicator_.board().row(next(i)), parity_), target);
}

void Meeting::compare() {
  bool same = true;
  for (uint32_t i = 1; i < size(); ++i) same = same && fits(post(next(i)).call, call_);
  if (same) [[likely]]
    return;
  std::vector<const Call*> calls(size());
  for (uint32_t i = 0; i < size(); ++i) calls[i] = &post(i).call;
  const uint32_t most = typical(calls);
  const auto other = std::ranges::find_if(calls, [&](const Call* each) { return !fits(*each, *calls[most]); });
  const auto culprit = static_cast<uint32_t>(other - calls.begin());
  communicator_.end(
      Result::kParameter,
      fmt::format("EI0005: call #{} differs between ranks: {} asks {}, {} asks {}; {}. All ranks must make the same "
                  "calls in the same order",
                  communicator_.board().row(rank()).calls.load(), describe(communicator_.peer(most)),
                  describe(*calls[most]), describe(communicator_.peer(culprit)), describe(**other),
                  difference(*calls[most], **other)));
}

void Meeting::refuse(uint32_t other, const std::string& what) {
  communicator_.end(Result::kParameter,
                    fmt::format("EI0005: {} does not fit between {} and {}: {}", describe(call_),
                                describe(communicator_.peer(rank())), describe(communicator_.peer(other)), what));
}

const std::byte* Meeting::input(uint32_t rank) const {
  if (small_) return tiny_ ? post(rank).tiny : post(rank).data;
  return address_in(communicator_.peer(rank), communicator_.link(rank), post(rank).send);
}

std::byte* Meeting::output(uint32_t rank) const {
  if (small_) return static_cast<std::byte*>(device::resolve(buffers_.recv, buffers_.recv_bytes));
  return address_in(communicator_.peer(rank), communicator_.link(rank), post(rank).recv);
}

const Extent* Meeting::extents(uint32_t rank) const { return communicator_.board().extents(rank, parity_); }

void Meeting::write_elsewhere() {
  Counter& writing = communicator_.board().row(rank()).writing;
  writing.set(writing.value.load(std::memory_order_relaxed) | 1);
  // Whoever hears of a fault looks for writers next: it sees this one, or this one hears of the fault.
  if (!communicator_.board().aborted()) return;
  writing.set(writing.value.load(std::memory_order_relaxed) + 1);
  communicator_.check();
}

// Small calls end here: a post is used again only two calls later, when everybody has come to the call between.
void Meeting::leave() {
  if (small_) return;
  Board& board = communicator_.board();
  Row& own = board.row(rank());
  if ((own.writing.value.load(std::memory_order_relaxed) & 1) != 0)
    own.writing.set(own.writing.value.load(std::memory_order_relaxed) + 1);
  own.phase.set(target_ + 1);
  if (idle())
    await(call_.root, board.row(call_.root).phase, target_ + 1);
  else if (call_.algorithm != Algorithm::kStar)  // nobody but this rank touches buffers of a star
    await_others([](Row& row, uint32_t) -> Counter& { return row.phase; }, target_ + 1);
  if (recv_.memory != nullptr)
    copy(static_cast<std::byte*>(device::resolve(buffers_.recv, buffers_.recv_bytes)),
         static_cast<const std::byte*>(device::resolve(recv_.memory, buffers_.recv_bytes)), buffers_.recv_bytes);
}

// After a fault the client may free its buffers at once; a peer that still writes to them must have ended by then.
void Meeting::await_writers() const {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  for (uint32_t other = 0; other < size(); ++other) {
    const Counter& writing = communicator_.board().row(other).writing;
    while (other != rank() && (writing.value.load(std::memory_order_acquire) & 1) != 0 &&
           std::chrono::steady_clock::now() < limit)
      std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

}  // namespace npu::comm
