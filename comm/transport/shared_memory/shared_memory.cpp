// SPDX-License-Identifier: Apache-2.0
#include "comm/transport/shared_memory/shared_memory.h"

#include <hwy/cache_control.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <ctime>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "comm/core/reduce.h"
#include "comm/transport/shared_memory/host_service.h"
#include "comm/transport/shared_memory/peer_memory.h"
#include "device/memory/memory.h"

namespace npu::comm {
namespace {

// Looks at the others' counters before the first pause, which lasts as long as a line needs to come.
constexpr int kAtOnce = 100;

int64_t now_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

bool reached(const std::atomic<uint32_t>& counter, uint32_t target) {
  return static_cast<int32_t>(counter.load(std::memory_order_seq_cst) - target) >= 0;
}

std::byte* resolved(const void* buffer, uint64_t bytes) {
  return static_cast<std::byte*>(device::resolve(buffer, bytes));
}

}  // namespace

/// The transports of the process, for the thread that watches other processes.
struct Listeners {
  std::mutex mutex;
  std::set<SharedMemory*> all;

  static Listeners& get() {
    static Listeners& instance = []() -> Listeners& {
      HostService::get().set_hooks(&beat, &process_ended);
      return *new Listeners;
    }();
    return instance;
  }
  static void beat() {
    const std::lock_guard lock(get().mutex);
    for (SharedMemory* each : get().all) each->beat();
  }
  static void process_ended(const std::string& process, bool alive) {
    const std::lock_guard lock(get().mutex);
    for (const SharedMemory* each : get().all)
      each->lost_(process, alive ? Transport::Lost::kReset : Transport::Lost::kEnded);
  }
};

// Measured on 2 processors at 3 GHz (32 MB of third cache) with tests/bench/collective_bench.py under HCCL_ALGO, 2 to 8
// ranks: calls of 4 bytes for the waits, of 1 KB to 64 MB for the rates. Machines differ by factors, and so do all of
// these together: what is cheapest depends on their ratios. Posts are lines that others have just written.
Costs shared_memory_costs(uint32_t processors) {
  return {.processors = processors,
          .call_us = 0.07,
          .names_us = 0.12,
          .meet_us = 0.13,
          .switch_us = 1.15,
          .posted_bytes_per_us = 30e3,
          .cached_bytes_per_us = 80e3,
          .memory_bytes_per_us = 12e3};
}

SharedMemory::SharedMemory(const Group& group, uint32_t rank, std::shared_ptr<Board> board,
                           std::vector<std::shared_ptr<Link>> links)
    : peers_(group.peers),
      device_(group.peers[rank].device),
      rank_(rank),
      board_(std::move(board)),
      links_(std::move(links)),
      link_of_(board_->ranks()),
      costs_(shared_memory_costs(board_->processors())),
      spin_(Spin::for_ranks(board_->ranks(), board_->processors())) {
  for (const Peer& peer : peers_)
    for (const std::shared_ptr<Link>& link : links_)
      if (link->process() == peer.process) link_of_[peer.rank] = link.get();
  beat();
}

SharedMemory::~SharedMemory() {
  if (lost_) listen({});
  if (links_.empty()) return;
  links_.clear();
  HostService::get().look_again();  // its thread holds links while it watches them
}

void SharedMemory::begin(uint32_t number) { own().calls.store(number, std::memory_order_relaxed); }

// Those who come together find each other within a moment, and then nobody sleeps who must be woken.
void SharedMemory::come(const Offer& offer, bool waits, Watch& watch) {
  watch_ = &watch;
  small_ = offer.small;
  tiny_ = offer.small && offer.most_bytes <= kTinyBytes;
  buffers_ = offer.buffers;
  target_ = own().phase.value.load(std::memory_order_relaxed) + 1;
  parity_ = (own().calls.load(std::memory_order_relaxed) + 1) & 1;
  show(offer);
  own().phase.value.store(target_, std::memory_order_relaxed);  // nobody waits for this phase there
  Counter& come = post(rank_).come;
  if (!waits) return come.set(target_);
  come.publish(target_);
  uint32_t others = 1;
  for (int i = 0; i < spin_.pauses; ++i) {
    while (others < size() && post(next(others)).come.reached(target_)) ++others;
    if (others == size()) return come.wake_sleepers();
    if (i >= kAtOnce) hwy::Pause();
  }
  come.wake_sleepers();
  await_others([](Seat& seat, uint32_t parity) -> Counter& { return seat.posts[parity].come; }, target_);
}

void SharedMemory::show(const Offer& offer) {
  Post& shown = post(rank_);
  shown.call = offer.call;
  own().last.set(offer.call);
  std::ranges::copy(offer.extents, board_->extents(rank_, parity_));
  if (offer.call.with_order) [[unlikely]]
    board_->show_order(rank_, parity_, offer.order);
  if (small_) {
    if (buffers_.send != nullptr)
      std::memcpy(tiny_ ? shown.tiny : shown.data, resolved(buffers_.send, buffers_.send_bytes), buffers_.send_bytes);
    return;
  }
  shown.send = named(buffers_.send, buffers_.send_bytes, send_stand_in_);
  shown.recv = named(buffers_.recv, buffers_.recv_bytes, recv_stand_in_);
}

BufferName SharedMemory::named(const void* buffer, uint64_t bytes, std::shared_ptr<void>& stand_in) const {
  const BufferName name = name_of(buffer, bytes);
  if (name.segment != 0 || buffer == nullptr || bytes == 0) return name;
  stand_in.reset(device::allocate(device_, bytes), [](void* memory) { device::deallocate(memory); });
  comm::copy(resolved(stand_in.get(), bytes), resolved(buffer, bytes), bytes);
  return name_of(stand_in.get(), bytes);
}

std::byte* SharedMemory::address(uint32_t rank, const BufferName& buffer) const {
  return address_in(peers_[rank], link_of_[rank], buffer);
}

const std::byte* SharedMemory::input(const Part& part) const {
  if (part.bytes == 0) return nullptr;
  const Post& shown = post(part.rank);
  return (small_ ? tiny_ ? shown.tiny : shown.data : address(part.rank, shown.send)) + part.offset;
}

void SharedMemory::read(std::span<const Part> parts, const std::byte** at) {
  for (const Part& part : parts) *at++ = input(part);
}

void SharedMemory::take(const Part& part, std::byte* to) { comm::copy(to, input(part), part.bytes); }

std::byte* SharedMemory::write(const Part& part) {
  std::byte* const buffer = address(part.rank, post(part.rank).recv);
  if (part.rank != rank_) start_writing();
  return buffer == nullptr ? nullptr : buffer + part.offset;
}

void SharedMemory::start_writing() {
  Counter& writing = own().writing;
  const uint32_t now = writing.value.load(std::memory_order_relaxed);
  if ((now & 1) != 0) return;
  writing.set(now | 1);
  // Whoever hears of a fault looks for writers next: it sees this one, or this one hears of the fault.
  if (!aborted()) return;
  stop_writing();
  check();
}

void SharedMemory::stop_writing() {
  Counter& writing = own().writing;
  const uint32_t now = writing.value.load(std::memory_order_relaxed);
  if ((now & 1) != 0) writing.set(now + 1);
}

// Small calls do not come here: a post is used again only two calls later, when everybody has come to the call between.
void SharedMemory::leave(uint32_t whose) {
  stop_writing();
  own().phase.set(target_ + 1);
  if (whose == kEveryRank)
    await_others([](Seat& seat, uint32_t) -> Counter& { return seat.phase; }, target_ + 1);
  else if (whose != kNoRank)
    await(whose, board_->seat(whose).phase, target_ + 1);
  if (recv_stand_in_ != nullptr)
    comm::copy(resolved(buffers_.recv, buffers_.recv_bytes), resolved(recv_stand_in_.get(), buffers_.recv_bytes),
               buffers_.recv_bytes);
}

void SharedMemory::finish() {
  stop_writing();
  send_stand_in_.reset();
  recv_stand_in_.reset();
}

void SharedMemory::await(uint32_t whose, Counter& counter, uint32_t target) {
  if (counter.reached(target)) return;
  try {
    wait_until(counter, target, spin_, [&](int64_t waited_ms) { watch_->look_around(whose, waited_ms); });
  } catch (...) {
    await_writers();  // others may have seen that all have come
    throw;
  }
}

void SharedMemory::await_others(Counter& (*counter)(Seat&, uint32_t parity), uint32_t target) {
  for (uint32_t i = 1; i < size(); ++i) await(next(i), counter(board_->seat(next(i)), parity_), target);
}

// After a fault the client may free its buffers at once; a peer that still writes to them must have ended by then.
void SharedMemory::await_writers() const {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  for (uint32_t other = 0; other < size(); ++other) {
    const Counter& writing = board_->seat(other).writing;
    while (other != rank_ && (writing.value.load(std::memory_order_acquire) & 1) != 0 &&
           std::chrono::steady_clock::now() < limit)
      std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

Transport::Sent SharedMemory::send(uint32_t to, uint32_t number, const Call& call, const void* buffer,
                                   std::shared_ptr<void>& kept) {
  Channel& channel = board_->channel(rank_, to);
  if (!reached(channel.taken, number - 1) || !reached(channel.posted, number - 1)) return Sent::kBusy;
  const uint64_t bytes = call.bytes();
  const bool small = bytes <= kInlineMessage;
  channel.call = call;
  channel.buffer = small ? BufferName{} : named(buffer, bytes, kept);
  if (small && bytes > 0) std::memcpy(channel.data, resolved(buffer, bytes), bytes);
  channel.posted.store(number, std::memory_order_seq_cst);
  board_->seat(to).doorbell.advance();
  return small ? Sent::kDone : Sent::kPosted;
}

bool SharedMemory::taken(uint32_t to, uint32_t number) const {
  return reached(board_->channel(rank_, to).taken, number);
}

const Call* SharedMemory::message(uint32_t from, uint32_t number) const {
  const Channel& channel = board_->channel(from, rank_);
  return reached(channel.posted, number) && reached(channel.taken, number - 1) ? &channel.call : nullptr;
}

void SharedMemory::receive(uint32_t from, uint32_t number, void* buffer) {
  Channel& channel = board_->channel(from, rank_);
  const uint64_t bytes = channel.call.bytes();
  const std::byte* const data = bytes <= kInlineMessage ? channel.data : address(from, channel.buffer);
  if (bytes > 0) comm::copy(resolved(buffer, bytes), data, bytes);
  channel.taken.store(number, std::memory_order_seq_cst);
  board_->seat(from).doorbell.advance();
}

uint32_t SharedMemory::doorbell() const { return own().doorbell.value.load(std::memory_order_seq_cst); }

void SharedMemory::await_doorbell(uint32_t heard, uint32_t whose, Watch& watch) {
  Counter& doorbell = own().doorbell;
  if (doorbell.reached(heard + 1)) return;
  wait_until(doorbell, heard + 1, spin_, [&](int64_t waited_ms) { watch.look_around(whose, waited_ms); });
}

Transport::Sight SharedMemory::sight(uint32_t rank) const {
  const Seat& seat = board_->seat(rank);
  Sight out;
  out.joined = seat.here.load() != 0;
  out.left = seat.left.load() != 0;
  const int64_t beat = seat.beat_ns.load(std::memory_order_relaxed);
  if (beat != 0) out.silent_s = (now_ns() - beat) / 1'000'000'000;
  out.calls = seat.calls.load(std::memory_order_relaxed);
  if (out.calls != 0) out.last = seat.last.get();
  return out;
}

void SharedMemory::join() { own().here.store(1); }

void SharedMemory::depart() {
  own().left.store(1);
  own().wake();
}

void SharedMemory::beat() { own().beat_ns.store(now_ns(), std::memory_order_relaxed); }

void SharedMemory::listen(OnLost lost) {
  const std::lock_guard lock(Listeners::get().mutex);
  lost_ = std::move(lost);
  if (!lost_) {
    Listeners::get().all.erase(this);
    return;
  }
  Listeners::get().all.insert(this);
  for (const Peer& peer : peers_)
    if (HostService::get().has_ended(peer.process)) lost_(peer.process, Lost::kEnded);
}

}  // namespace npu::comm
