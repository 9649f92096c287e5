// SPDX-License-Identifier: Apache-2.0
// A transport over queues in one process, for tests: the proof that collectives need no more than Transport says. As
// over a network, a rank sees nothing of another but the packets it was sent: posts, parts it has asked for, parts that
// others have written, and that they are done. Whoever waits answers meanwhile.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "comm/transport/shared_memory/shared_memory.h"
#include "comm/transport/transport.h"
#include "device/memory/memory.h"

namespace npu::comm {

using Bytes = std::vector<std::byte>;

struct Packet {
  enum class What { kCome, kAsk, kAnswer, kPut, kDone } what = What::kCome;
  uint32_t from = 0;
  uint32_t collective = 0;      // its number
  Call call = {};               // kCome
  std::vector<Extent> extents;  // kCome
  std::string order;            // kCome
  uint64_t question = 0;        // kAsk, kAnswer
  Part part = {};               // kAsk, kPut
  Bytes data;
};

/// The queues between the ranks of one group, and what a launcher would know of them.
class Queues {
 public:
  explicit Queues(uint32_t ranks) : inboxes_(ranks), sights_(ranks) {}
  uint32_t ranks() const { return static_cast<uint32_t>(inboxes_.size()); }

  void put(uint32_t to, Packet packet) {
    const std::lock_guard lock(mutex_);
    inboxes_[to].packets.push_back(std::move(packet));
    moved_.notify_all();
  }
  std::deque<Packet> get(uint32_t rank) {
    const std::lock_guard lock(mutex_);
    return std::exchange(inboxes_[rank].packets, {});
  }
  /// Returns when something has come for `rank` or somebody has called wake(), or after a moment.
  void sleep(uint32_t rank, uint32_t heard) {
    std::unique_lock lock(mutex_);
    moved_.wait_for(lock, std::chrono::milliseconds(50), [&] {
      return !inboxes_[rank].packets.empty() || inboxes_[rank].doorbell != heard || !reason_.text.empty();
    });
  }

  /// Messages of a pair come in the order of their numbers.
  bool post(uint32_t from, uint32_t to, uint32_t number, const Call& call, Bytes data) {
    const std::lock_guard lock(mutex_);
    Pair& pair = pairs_[{from, to}];
    if (pair.posted + 1 != number) return false;
    pair.posted = number;
    pair.letters.push_back({number, call, std::move(data)});
    for (const uint32_t rank : {from, to}) ++inboxes_[rank].doorbell;
    moved_.notify_all();
    return true;
  }
  const Call* first(uint32_t from, uint32_t to, uint32_t number) {
    const std::lock_guard lock(mutex_);
    const std::deque<Letter>& letters = pairs_[{from, to}].letters;
    return letters.empty() || letters.front().number != number ? nullptr : &letters.front().call;
  }
  Bytes take(uint32_t from, uint32_t to) {
    const std::lock_guard lock(mutex_);
    Pair& pair = pairs_[{from, to}];
    Bytes out = std::move(pair.letters.front().data);
    pair.letters.pop_front();
    ++inboxes_[to].doorbell;  // for the one behind it
    moved_.notify_all();
    return out;
  }
  uint32_t doorbell(uint32_t rank) {
    const std::lock_guard lock(mutex_);
    return inboxes_[rank].doorbell;
  }

  Transport::Sight sight(uint32_t rank) {
    const std::lock_guard lock(mutex_);
    return sights_[rank];
  }
  template <class F>
  void change(uint32_t rank, F&& how) {
    const std::lock_guard lock(mutex_);
    how(sights_[rank]);
    moved_.notify_all();
  }

  void abort(int32_t result, std::string_view text) {
    const std::lock_guard lock(mutex_);
    if (reason_.text.empty()) reason_ = {result, std::string(text)};
    moved_.notify_all();
  }
  Transport::Reason reason() {
    const std::lock_guard lock(mutex_);
    return reason_;
  }

 private:
  struct Inbox {
    std::deque<Packet> packets;
    uint32_t doorbell = 0;
  };
  struct Letter {
    uint32_t number;
    Call call;
    Bytes data;
  };
  struct Pair {
    uint32_t posted = 0;
    std::deque<Letter> letters;
  };

  std::mutex mutex_;
  std::condition_variable moved_;
  std::vector<Inbox> inboxes_;
  std::map<std::pair<uint32_t, uint32_t>, Pair> pairs_;
  std::vector<Transport::Sight> sights_;
  Transport::Reason reason_{};
};

class QueueTransport final : public Transport {
 public:
  QueueTransport(std::shared_ptr<Queues> queues, uint32_t rank)
      : queues_(std::move(queues)),
        rank_(rank),
        costs_(shared_memory_costs(std::max(1u, std::thread::hardware_concurrency()))) {}

  uint32_t rank() const override { return rank_; }
  uint32_t size() const override { return queues_->ranks(); }
  const Costs& costs() const override { return costs_; }

  void begin(uint32_t number) override {
    number_ = number;
    queues_->change(rank_, [&](Sight& own) { own.calls = number, own.last = {}; });
  }

  void come(const Offer& offer, bool waits, Watch& watch) override {
    watch_ = &watch;
    buffers_ = offer.buffers;
    small_ = offer.small;
    present_ = true;
    posts_.erase(posts_.begin(), posts_.lower_bound(number_));
    queues_->change(rank_, [&](Sight& own) { own.last = offer.call; });
    Packet post = packet(Packet::What::kCome);
    post.call = offer.call;
    post.extents.assign(offer.extents.begin(), offer.extents.end());
    post.order = offer.order;
    if (small_ && buffers_.send != nullptr)
      post.data = copied(buffers_.send, buffers_.send_bytes, 0, buffers_.send_bytes);
    send_all(post);
    posts_[number_][rank_] = std::move(post);
    for (uint32_t other = 0; waits && other < size(); ++other)
      await(other, [&] { return posts_[number_].contains(other); });
  }

  const Call& call_of(uint32_t rank) const override { return posts_.at(number_).at(rank).call; }
  const Extent* extents_of(uint32_t rank) const override { return posts_.at(number_).at(rank).extents.data(); }
  std::string order_of(uint32_t rank) const override { return posts_.at(number_).at(rank).order; }

  void read(std::span<const Part> parts, const std::byte** at) override {
    for (size_t i = 0; i < parts.size(); ++i) {
      at[i] = nullptr;
      if (parts[i].bytes == 0) continue;
      if (const std::byte* here = local(parts[i])) {
        at[i] = here;
        continue;
      }
      staged_.emplace_back(parts[i].bytes);
      at[i] = staged_.back().data();
      ask(parts[i], staged_.back().data());
    }
    await_answers();
  }

  void take(const Part& part, std::byte* to) override {
    if (part.bytes == 0) return;
    if (const std::byte* here = local(part))
      std::memmove(to, here, part.bytes);
    else
      ask(part, to);
  }

  std::byte* write(const Part& part) override {
    if (part.rank == rank_)
      return part.bytes == 0 ? nullptr : resolved(buffers_.recv, buffers_.recv_bytes) + part.offset;
    puts_.push_back({part, Bytes(part.bytes)});
    return puts_.back().second.data();
  }

  void leave(uint32_t whose) override {
    await_answers();
    for (auto& [part, data] : puts_) {
      Packet put = packet(Packet::What::kPut);
      put.part = part;
      put.data = std::move(data);
      queues_->put(part.rank, std::move(put));
    }
    send_all(packet(Packet::What::kDone));
    for (uint32_t other = 0; other < size(); ++other)
      if (other != rank_ && (whose == kEveryRank || whose == other))
        await(other, [&] { return done_.contains({number_, other}); });
  }

  void finish() override {
    present_ = false;
    staged_.clear();
    puts_.clear();
    answers_.clear();
    done_.erase(done_.begin(), done_.lower_bound({number_ + 1, 0}));
  }

  // A message is copied when it is sent: its sender needs nothing any more.
  Sent send(uint32_t to, uint32_t number, const Call& call, const void* buffer, std::shared_ptr<void>&) override {
    const uint64_t bytes = call.bytes();
    return queues_->post(rank_, to, number, call, copied(buffer, bytes, 0, bytes)) ? Sent::kDone : Sent::kBusy;
  }
  bool taken(uint32_t, uint32_t) const override { return true; }
  const Call* message(uint32_t from, uint32_t number) const override { return queues_->first(from, rank_, number); }
  void receive(uint32_t from, uint32_t, void* buffer) override {
    const Bytes data = queues_->take(from, rank_);
    if (!data.empty()) std::memcpy(resolved(buffer, data.size()), data.data(), data.size());
  }
  uint32_t doorbell() const override { return queues_->doorbell(rank_); }
  void await_doorbell(uint32_t heard, uint32_t whose, Watch& watch) override {
    const auto start = std::chrono::steady_clock::now();
    while (doorbell() == heard) {
      watch.look_around(whose, since(start));
      queues_->sleep(rank_, heard);
    }
  }

  Sight sight(uint32_t rank) const override { return queues_->sight(rank); }
  void join() override {
    queues_->change(rank_, [](Sight& own) { own.joined = true, own.silent_s = 0; });
  }
  void depart() override {
    queues_->change(rank_, [](Sight& own) { own.left = true; });
  }
  void listen(OnLost) override {}  // there is one process only

  void abort(int32_t result, std::string_view text) override { queues_->abort(result, text); }
  bool aborted() const override { return !queues_->reason().text.empty(); }
  Reason reason() const override { return queues_->reason(); }

 private:
  static std::byte* resolved(const void* buffer, uint64_t bytes) {
    return static_cast<std::byte*>(device::resolve(buffer, bytes));
  }
  static Bytes copied(const void* buffer, uint64_t bytes, uint64_t offset, uint64_t count) {
    if (count == 0) return {};
    const std::byte* const from = resolved(buffer, bytes) + offset;
    return {from, from + count};
  }
  static int64_t since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start).count();
  }

  Packet packet(Packet::What what) const {
    Packet out;
    out.what = what;
    out.from = rank_;
    out.collective = number_;
    return out;
  }
  void send_all(const Packet& packet) {
    for (uint32_t other = 0; other < size(); ++other)
      if (other != rank_) queues_->put(other, packet);
  }
  /// What needs no packet: this rank's own data, and what came with a post.
  const std::byte* local(const Part& part) const {
    if (small_) return posts_.at(number_).at(part.rank).data.data() + part.offset;
    return part.rank == rank_ ? resolved(buffers_.send, buffers_.send_bytes) + part.offset : nullptr;
  }
  void ask(const Part& part, std::byte* to) {
    Packet out = packet(Packet::What::kAsk);
    out.part = part;
    out.question = ++questions_;
    answers_[out.question] = {part.rank, to};
    queues_->put(part.rank, std::move(out));
  }
  void await_answers() {
    while (!answers_.empty()) {
      const auto [question, answer] = *answers_.begin();
      await(answer.first, [&, question = question] { return !answers_.contains(question); });
    }
  }

  template <class F>
  void await(uint32_t whose, F&& there) {
    const auto start = std::chrono::steady_clock::now();
    for (;;) {
      const uint32_t heard = doorbell();
      for (Packet& each : queues_->get(rank_)) handle(each);
      if (there()) return;
      watch_->look_around(whose, since(start));
      queues_->sleep(rank_, heard);
    }
  }

  // What belongs to a collective that this rank has left, after a fault, finds nobody at home.
  void handle(Packet& got) {
    if (got.what == Packet::What::kCome)
      posts_[got.collective][got.from] = std::move(got);
    else if (got.what == Packet::What::kDone)
      done_.insert({got.collective, got.from});
    else if (present_ && got.collective == number_)
      serve(got);
  }
  void serve(Packet& got) {
    if (got.what == Packet::What::kAsk) {
      Packet out = packet(Packet::What::kAnswer);
      out.question = got.question;
      out.data = copied(buffers_.send, buffers_.send_bytes, got.part.offset, got.part.bytes);
      queues_->put(got.from, std::move(out));
    } else if (got.what == Packet::What::kPut) {
      if (!got.data.empty())
        std::memcpy(resolved(buffers_.recv, buffers_.recv_bytes) + got.part.offset, got.data.data(), got.data.size());
    } else if (const auto asked = answers_.find(got.question); asked != answers_.end()) {
      std::memcpy(asked->second.second, got.data.data(), got.data.size());
      answers_.erase(asked);
    }
  }

  const std::shared_ptr<Queues> queues_;
  const uint32_t rank_;
  const Costs costs_;
  uint32_t number_ = 0;
  std::map<uint32_t, std::map<uint32_t, Packet>> posts_;  // by number and rank
  std::set<std::pair<uint32_t, uint32_t>> done_;          // number and rank

  // Of the collective that runs.
  Watch* watch_ = nullptr;
  Buffers buffers_;
  bool small_ = false, present_ = false;
  std::deque<Bytes> staged_;
  std::vector<std::pair<Part, Bytes>> puts_;
  std::map<uint64_t, std::pair<uint32_t, std::byte*>> answers_;  // that are missing: of whom, and where they go
  uint64_t questions_ = 0;
};

}  // namespace npu::comm
