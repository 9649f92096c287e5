// SPDX-License-Identifier: Apache-2.0
#include "comm/transport/ucx/network.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <string_view>
#include <utility>

#include "base/hash.h"
#include "device/memory/memory.h"

namespace npu::comm {
namespace {

// Messages that a rank may have sent and the other not received: what nobody takes lies in memory.
constexpr uint32_t kLetters = 64;
// Larger data waits until it is asked for.
constexpr size_t kAskedFor = size_t{128} << 10;
// Before a rank waits for the network it works on its data, and with others on its host it waits for them: with more
// than so much it leaves the network to the wire's thread meanwhile.
constexpr size_t kAttendedAlone = size_t{1} << 20, kAttended = kAskedFor;
// A piece, with its head, is what UCX sends at once over TCP, and what it has received is read from the cache. On a
// network of 10 Mbit/s it takes 100 ms.
constexpr uint64_t kPieceBytes = uint64_t{120} << 10;
// So many at once, then some whenever these have been handed over and what has come meanwhile has been received: over
// TCP the kernel copies the next ones to the pages that these were in, which the cache still has.
constexpr int kFirstPieces = 5, kNextPieces = 2;
constexpr uint32_t kAcknowledge = 16;
constexpr int64_t kDepartMs = 2000, kBreakMs = 1000, kBrokenMs = 5000;

std::byte* resolved(const void* buffer, uint64_t bytes) {
  return static_cast<std::byte*>(device::resolve(buffer, bytes));
}

}  // namespace

Network::Network(const Group& group, uint32_t rank, std::unique_ptr<SharedMemory> local, Wire& wire)
    : peers_(group.peers),
      hosts_(hosts_of(group)),
      rank_(rank),
      group_(hash_of(group.uid)),
      spin_(Spin::for_ranks(local->size(), local->costs().processors)),
      local_(std::move(local)),
      wire_(wire),
      far_(peers_.size()),
      by_place_(hosts_.ranks[hosts_.host_of[rank]]) {
  for (const Peer& peer : peers_)
    if (!is_here(peer.rank)) {
      far_[peer.rank].endpoint = &wire_.connected(peer.process, peer.address);
      far_[peer.rank].sight.far = true;
    }
  wire_.add(*this, group_, rank_);
}

Network::~Network() {
  wire_.remove(*this, group_, rank_);
  const auto lock = wire_.lock();
  // Messages may still be on their way.
  for (const Far& far : far_)
    for (const auto& [number, outgoing] : far.posted) outgoing.forget();
  for (const auto& [key, outgoing] : sending_) outgoing.forget();
  data_.clear();
  far_.clear();
}

Head Network::head(Head::What what, uint32_t to) const {
  Head out;
  out.what = what;
  out.to = to;
  out.from = rank_;
  out.calls = out.number = number_;
  out.group = group_;
  out.call = call_;
  return out;
}

/// Says something to all ranks of other hosts.
std::vector<TransferPtr> Network::tell_far(Head::What what) {
  std::vector<TransferPtr> told;
  const auto lock = wire_.lock();
  for (uint32_t to = 0; to < size(); ++to)
    if (!is_here(to)) told.push_back(wire_.send(*far_[to].endpoint, head(what, to)));
  return told;
}

// ---- Collectives.

void Network::begin(uint32_t number) {
  local_->begin(number);
  next_ = number;
}

void Network::come(const Offer& offer, bool waits, Watch& watch) {
  by_place_.watch = watch_ = &watch;
  {
    const auto lock = wire_.lock();
    number_ = next_;  // with its call: others hear of both at once
    call_ = offer.call;
    if (call_.with_order) [[unlikely]]
      show_order(offer.order);
  }
  local_->come(offer, waits, by_place_);
  if (call_.with_order && waits) [[unlikely]]
    await_orders(watch);
  if (offer.most_bytes <= (local_->size() == 1 ? kAttendedAlone : kAttended)) attend(true);
}

void Network::attend(bool on) {
  if (on != attends_) wire_.attend(on ? 1 : -1);
  attends_ = on;
}

/// Each piece is copied when it is sent.
void Network::show_order(std::string_view text) {
  for (uint32_t to = 0; to < size(); ++to) {
    if (is_here(to)) continue;
    Head its = head(Head::What::kOrder, to);
    for (its.bytes = text.size(); its.offset < its.bytes; its.offset += Wire::kCopied) {
      const std::string_view piece = text.substr(its.offset, Wire::kCopied);
      wire_.send(*far_[to].endpoint, its, std::as_bytes(std::span(piece)));
    }
  }
}

/// Whether its order is there, or it has come without one.
bool Network::knows_order(uint32_t from) const {
  const Far& far = far_[from];
  const auto ahead = static_cast<int32_t>(far.sight.calls - number_);
  if (ahead != 0) return ahead > 0;
  const auto found = far.orders.find(number_);
  return found == far.orders.end() ? !far.sight.last.with_order : found->second.complete();
}

/// Of all ranks of other hosts: nothing is passed before. One without an order shows its call within a second.
void Network::await_orders(Watch& watch) {
  for (uint32_t from = 0; from < size(); ++from)
    if (!is_here(from))
      wire_.await(
          spin_, [&] { return knows_order(from); }, [&](int64_t waited_ms) { watch.look_around(from, waited_ms); });
}

std::string Network::order_of(uint32_t rank) const {
  if (is_here(rank)) return local_->order_of(place(rank));
  const auto lock = wire_.lock();
  const auto found = far_[rank].orders.find(number_);
  return found != far_[rank].orders.end() && found->second.complete() ? found->second.text : "";
}

void Network::read(std::span<const Part> parts, const std::byte** at) {
  for (const Part& part : parts) {
    const Part own = here(part);
    local_->read({&own, 1}, at++);
  }
}

/// The others follow by themselves.
void Network::begin_sending(Outgoing& outgoing) { send_pieces(kFirstPieces, outgoing); }

/// In pieces: the other side hears of each, however slow the network is.
void Network::send_pieces(int count, Outgoing& outgoing) {
  Head head = outgoing.head;
  const uint64_t all = head.bytes = outgoing.data.size();
  do {
    head.offset = outgoing.sent;
    const auto piece = outgoing.data.subspan(outgoing.sent, std::min(all - outgoing.sent, kPieceBytes));
    outgoing.sent += piece.size();
    std::function<void()> then = outgoing.then;
    if (--count == 0 && outgoing.sent < all)
      then = [this, head] { wire_.later(*this, [this, head] { go_on_sending(head); }); };
    outgoing.pieces.push_back(wire_.send(*far_[head.to].endpoint, head, piece, std::move(then)));
  } while (count > 0 && outgoing.sent < all);
}

void Network::go_on_sending(const Head& head) {
  Outgoing* const outgoing = outgoing_of(head.what == Head::What::kMessage, head.to, head.number, head.step);
  if (outgoing != nullptr && !aborted() && !departed_) send_pieces(kNextPieces, *outgoing);
}

Network::Outgoing* Network::outgoing_of(bool message, uint32_t to, uint32_t number, uint32_t step) {
  if (message) {
    const auto found = far_[to].posted.find(number);
    return found == far_[to].posted.end() ? nullptr : &found->second;
  }
  const auto found = sending_.find({number, to, step});
  return found == sending_.end() ? nullptr : &found->second;
}

/// Says what there is; who wants it asks.
void Network::announce(const Outgoing& outgoing) {
  Head head = outgoing.head;
  head.bytes = head.offset = outgoing.data.size();
  wire_.send(*far_[head.to].endpoint, head);
}

void Network::want(Head::What what, uint32_t from, uint32_t number, uint32_t step) {
  Head its = head(what, from);
  its.number = number;
  its.step = step;
  wire_.send(*far_[from].endpoint, its);
}

// Answered when UCX does not call back.
void Network::wanted(const Head& head) {
  const bool message = head.what == Head::What::kWantedMessage;
  if (!message) wanted_.insert({head.number, head.from, head.step});
  wire_.later(*this, [this, message, head] {
    if (aborted() || departed_) return;  // the client may have freed its buffers
    Outgoing* const outgoing = outgoing_of(message, head.from, head.number, head.step);
    if (outgoing != nullptr && !outgoing->begun()) begin_sending(*outgoing);
  });
}

void Network::pass(uint32_t to, uint32_t step, const std::byte* data, uint64_t bytes) {
  const auto lock = wire_.lock();
  Outgoing outgoing{head(Head::What::kData, to), {data, bytes}};
  outgoing.head.step = step;
  const Key key{number_, to, step};
  if (bytes <= kAskedFor || wanted_.contains(key))
    begin_sending(outgoing);
  else  // who wants it has mostly asked when this thread looks; one who expects another size never does
    wire_.later(*this, [this, key] {
      const auto& [number, whom, which] = key;
      const Outgoing* const its = outgoing_of(false, whom, number, which);
      if (its != nullptr && !its->begun() && !wanted_.contains(key)) announce(*its);
    });
  if (bytes > Wire::kCopied) sending_.emplace(key, std::move(outgoing));
}

Incoming& Network::data_of(uint32_t number, uint32_t from, uint32_t step) {
  return data_.try_emplace({number, from, step}, wire_, *far_[from].endpoint).first->second;
}

void Network::expect(uint32_t from, uint32_t step, std::byte* to, uint64_t bytes, const Merge* with) {
  const auto lock = wire_.lock();
  data_of(number_, from, step).expect(call_, to, bytes, with);
  if (bytes > kAskedFor) want(Head::What::kWanted, from, number_, step);
}

uint64_t Network::await_passed(uint32_t from, uint32_t step, Watch& watch) {
  uint64_t bytes = 0;
  Incoming* data = nullptr;
  {
    const auto lock = wire_.lock();
    data = &data_of(number_, from, step);
  }
  wire_.await(
      spin_,
      [&] {
        data->settle();
        if (!data->there()) return false;
        bytes = data->bytes();
        data_.erase({number_, from, step});
        return true;
      },
      [&](int64_t waited_ms) { watch.look_around(from, waited_ms); });
  return bytes;
}

bool Network::all_sent() {
  std::erase_if(sending_, [](const auto& each) { return each.second.done(); });
  return sending_.empty();
}

void Network::await_sent(uint32_t to, uint32_t step) {
  const Key key{number_, to, step};
  wire_.await(
      spin_,
      [&] {
        const auto found = sending_.find(key);
        return found == sending_.end() || found->second.done();
      },
      [&](int64_t waited_ms) { watch_->look_around(to, waited_ms); });
}

void Network::await_all_sent() {
  if (sending_.empty()) return;
  wire_.await(
      spin_, [&] { return all_sent(); },
      [&](int64_t waited_ms) { watch_->look_around(std::get<1>(sending_.begin()->first), waited_ms); });
}

void Network::leave(uint32_t whose) {
  await_all_sent();
  attend(false);
  local_->leave(whose == kEveryRank || whose == kNoRank ? whose : place(whose));
}

void Network::finish() {
  end_transfers();
  attend(false);
  local_->finish();
  const auto lock = wire_.lock();
  forget_data();
}

/// Nobody has a place any more for data of this call and those before: what was passed and never taken belongs to calls
/// that did not fit.
void Network::forget_data() {
  const auto past = data_.lower_bound({number_ + 1, 0, 0});
  data_.erase(data_.begin(), past);
  wanted_.erase(wanted_.begin(), wanted_.lower_bound({number_ + 1, 0, 0}));
  for (const auto& [key, outgoing] : sending_) outgoing.forget();
  sending_.clear();
  for (Far& each : far_) each.orders.erase(each.orders.begin(), each.orders.upper_bound(number_));
}

/// After a fault the client may free its buffers at once: nothing may be on its way from or to them.
void Network::end_transfers() {
  const auto open = [&] {
    const auto under_way = [](const auto& each) { return each.second.under_way(); };
    return std::ranges::any_of(sending_, under_way) || std::ranges::any_of(data_, under_way);
  };
  {
    const auto lock = wire_.lock();
    if (!open()) return;
  }
  const int64_t start = Wire::now_ms();
  const auto waited = [&] { return Wire::now_ms() - start; };
  wire_.await(spin_, [&] { return !open() || waited() > kBreakMs; }, [](int64_t) {});
  wire_.await(
      spin_,
      [&] {
        if (!open() || waited() > kBrokenMs) return true;
        for (const auto& [key, outgoing] : sending_)
          if (outgoing.under_way()) wire_.break_off(*far_[std::get<1>(key)].endpoint);
        for (const auto& [key, data] : data_)
          if (data.under_way()) wire_.break_off(data.from());
        return false;
      },
      [](int64_t) {});
}

// ---- Messages.

Transport::Sent Network::send(uint32_t to, uint32_t number, const Call& call, const void* buffer,
                              std::shared_ptr<void>& kept) {
  if (is_here(to)) return local_->send(place(to), number, call, buffer, kept);
  const auto lock = wire_.lock();
  Far& far = far_[to];
  if (number - far.acknowledged > kLetters) return Sent::kBusy;
  Head its = head(Head::What::kMessage, to);
  its.number = number;
  its.call = call;
  const uint64_t bytes = call.bytes();
  const std::byte* const data = bytes == 0 ? nullptr : resolved(buffer, bytes);
  Outgoing outgoing{its, {data, bytes}};
  const bool copied = bytes <= Wire::kCopied;
  if (!copied) outgoing.then = [this] { local_->ring(); };
  if (bytes <= kAskedFor)
    begin_sending(outgoing);
  else
    announce(outgoing);
  if (copied) return Sent::kDone;
  if (outgoing.begun() && !outgoing.all_sent()) wire_.hand_over();  // nobody may wait for the pieces that are left
  far.posted.emplace(number, std::move(outgoing));
  return Sent::kPosted;
}

bool Network::taken(uint32_t to, uint32_t number) const {
  if (is_here(to)) return local_->taken(place(to), number);
  const auto lock = wire_.lock();
  auto& posted = far_[to].posted;
  const auto found = posted.find(number);
  if (found == posted.end()) return true;
  if (!found->second.done()) return false;  // who has failed ends the group
  posted.erase(found);
  return true;
}

const Call* Network::message(uint32_t from, uint32_t number) const {
  if (is_here(from)) return local_->message(place(from), number);
  const auto lock = wire_.lock();
  const auto found = far_[from].letters.find(number);
  return found == far_[from].letters.end() ? nullptr : &found->second.call();
}

void Network::receive(uint32_t from, uint32_t number, void* buffer) {
  if (is_here(from)) return local_->receive(place(from), number, buffer);
  Far& far = far_[from];
  Incoming* letter = nullptr;
  {
    const auto lock = wire_.lock();
    letter = &far.letters.at(number);
    const uint64_t bytes = letter->bytes();
    letter->expect(letter->call(), bytes == 0 ? nullptr : resolved(buffer, bytes), bytes, nullptr);
    if (bytes > kAskedFor) want(Head::What::kWantedMessage, from, number, 0);
  }
  auto done = [&] {
    letter->settle();
    return letter->there();
  };
  // A sender that ends meanwhile ends the group. The client may free its buffer then: nothing may write there.
  try {
    wire_.await(spin_, done, [&](int64_t) { check(); });
  } catch (...) {
    const auto lock = wire_.lock();
    if (letter->under_way()) wire_.break_off(*far.endpoint);
    throw;
  }
  const auto lock = wire_.lock();
  far.letters.erase(number);
  if (number % kAcknowledge != 0) return;
  Head its = head(Head::What::kTaken, from);
  its.number = number;
  wire_.send(*far.endpoint, its);
}

// Another host's messages ring this rank's own doorbell, which wakes no thread that waits on the wire.
void Network::await_doorbell(uint32_t heard, uint32_t whose, Watch& watch) {
  int tried = 0;
  wire_.await(spin_, [&] { return doorbell() != heard || ++tried >= Wire::tries_of(spin_); }, [](int64_t) {});
  if (doorbell() != heard) return;
  wire_.hand_over();
  local_->await_doorbell(heard, whose, watch);
}

// ---- Who is there.

Transport::Sight Network::sight(uint32_t rank) const {
  if (is_here(rank)) return local_->sight(place(rank));
  const auto lock = wire_.lock();
  Sight out = far_[rank].sight;
  if (const int64_t heard = far_[rank].endpoint->heard_ms; heard != 0) out.silent_s = (Wire::now_ms() - heard) / 1000;
  return out;
}

void Network::join() {
  local_->join();
  tell_far(Head::What::kJoined);
}

void Network::depart() {
  local_->depart();
  if (departed_.exchange(true)) return;
  std::vector<TransferPtr> told = tell_far(Head::What::kLeft);
  if (aborted()) return;  // nobody waits for anything, and the network may have failed
  {
    const auto lock = wire_.lock();
    for (const Far& each : far_)
      if (each.endpoint != nullptr) told.push_back(wire_.flush(*each.endpoint));
  }
  // The process may end now, and with it what is on its way.
  const int64_t limit = Wire::now_ms() + kDepartMs;
  const auto gone = [](const TransferPtr& each) { return each->done; };
  wire_.await(spin_, [&] { return Wire::now_ms() > limit || std::ranges::all_of(told, gone); }, [](int64_t) {});
}

void Network::listen(OnLost lost) {
  local_->listen(lost);
  const auto quiet = wire_.quiet();
  const auto lock = wire_.lock();
  lost_ = std::move(lost);
}

void Network::abort(int32_t result, std::string_view text) {
  local_->abort(result, text);
  const auto* const data = reinterpret_cast<const std::byte*>(text.data());
  const auto lock = wire_.lock();
  std::set<const Endpoint*> told;
  for (uint32_t to = 0; to < size(); ++to) {
    if (is_here(to) || !told.insert(far_[to].endpoint).second) continue;
    Head its = head(Head::What::kAbort, to);
    its.step = static_cast<uint32_t>(result);
    wire_.send(*far_[to].endpoint, its, {data, std::min<size_t>(text.size(), Wire::kCopied)});
  }
}

void Network::beat() { tell_far(Head::What::kCalls); }

// Where several processes are lost at once, each tells of itself.
void Network::lost(const Endpoint& endpoint) {
  OnLost tell;
  bool heard = false;
  {
    const auto lock = wire_.lock();
    tell = lost_;
    heard = endpoint.heard_ms != 0;
  }
  for (const Far& each : far_)
    if (each.endpoint == &endpoint) {
      if (tell) tell(endpoint.process, heard ? Lost::kEnded : Lost::kUnreachable);
      return;
    }
}

// ---- What comes, in the wire's lock.

void Network::arrived(const Head& head, std::span<const std::byte> data, uint64_t bytes, void* token) {
  Far& far = far_[head.from];
  far.endpoint->heard_ms = Wire::now_ms();
  if (head.what != Head::What::kMessage && static_cast<int32_t>(head.calls - far.sight.calls) >= 0) {
    far.sight.calls = head.calls;
    far.sight.last = head.call;
  }
  switch (head.what) {
    case Head::What::kCalls: break;
    case Head::What::kJoined: far.sight.joined = true; break;
    case Head::What::kLeft: far.sight.left = true; break;
    case Head::What::kAbort:
      local_->abort(static_cast<int32_t>(head.step), {reinterpret_cast<const char*>(data.data()), data.size()});
      break;
    case Head::What::kOrder: {
      Shown& shown = far.orders[head.number];
      shown.text.resize(head.bytes);
      std::memcpy(shown.text.data() + head.offset, data.data(), data.size());
      shown.came += data.size();
      break;
    }
    case Head::What::kData:
      if (static_cast<int32_t>(head.number - number_) >= 0)
        data_of(head.number, head.from, head.step).add(head, data, bytes, token);
      else if (token != nullptr)
        wire_.drop(token);  // of a call that this rank has done otherwise
      break;
    case Head::What::kMessage:
      far.letters.try_emplace(head.number, wire_, *far.endpoint).first->second.add(head, data, bytes, token);
      local_->ring();
      break;
    case Head::What::kWanted:
    case Head::What::kWantedMessage: wanted(head); break;
    case Head::What::kTaken:
      far.acknowledged = head.number;
      local_->ring();
      break;
  }
}

}  // namespace npu::comm
