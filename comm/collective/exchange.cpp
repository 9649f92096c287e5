// SPDX-License-Identifier: Apache-2.0
// Messages between two ranks. A small one is complete for its sender when it lies in the channel; a larger one when the
// receiver has copied it.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "comm/collective/check.h"
#include "comm/core/reduce.h"
#include "comm/transport/shared_memory/peer_memory.h"
#include "device/memory.h"

namespace npu::comm {
namespace {

bool reached(const std::atomic<uint32_t>& counter, uint32_t target) {
  return static_cast<int32_t>(counter.load(std::memory_order_seq_cst) - target) >= 0;
}

/// Device memory that stands in for a buffer which cannot be shared in one piece.
struct StandIn {
  void* memory = nullptr;
  StandIn() = default;
  StandIn(StandIn&& other) noexcept : memory(std::exchange(other.memory, nullptr)) {}
  ~StandIn() {
    if (memory != nullptr) device::deallocate(memory);
  }
};

NPU_COLLECTIVE(kSend, .id = 13, .name = "send", .posts = false);

struct Item {
  Message message;
  uint32_t number = 0;  // of the channel's messages
  enum class State { kWaits, kPosted, kDone } state = State::kWaits;
  StandIn stand_in;

  uint64_t bytes() const { return message.count * message.element.bytes; }
  Call call() const { return call_of(kSend, message.element, message.count); }
  std::string describe() const {
    return fmt::format("{} of {} elements of {} bytes", message.receives ? "recv" : "send", message.count,
                       message.element.bytes);
  }
};

class Exchange {
 public:
  Exchange(Communicator& communicator, std::vector<Item>& items) : communicator_(communicator), items_(items) {}

  void run() {
    Counter& bell = communicator_.board().row(communicator_.rank()).bell;
    for (;;) {
      const uint32_t heard = bell.value.load(std::memory_order_seq_cst);
      bool moved = false;
      const Item* waiting = nullptr;
      for (Item& item : items_) {
        moved = (item.message.receives ? receive(item) : send(item)) || moved;
        if (waiting == nullptr && item.state != Item::State::kDone) waiting = &item;
      }
      if (waiting == nullptr) return;
      if (!moved) communicator_.wait(bell, heard + 1, waiting->message.peer, [&] { return waiting->describe(); });
    }
  }

 private:
  bool send(Item& item) {
    Channel& channel = communicator_.board().channel(communicator_.rank(), item.message.peer);
    if (item.state == Item::State::kWaits && reached(channel.taken, item.number - 1) &&
        reached(channel.posted, item.number - 1)) {
      post(item, channel);
      return true;
    }
    if (item.state != Item::State::kPosted || !reached(channel.taken, item.number)) return false;
    item.state = Item::State::kDone;
    return true;
  }

  void post(Item& item, Channel& channel) {
    const void* const buffer = item.message.buffer;
    const uint64_t bytes = item.bytes();
    channel.call = item.call();
    channel.buffer = {};
    if (bytes <= kInlineMessage) {
      if (bytes > 0) std::memcpy(channel.data, device::resolve(buffer, bytes), bytes);
    } else {
      channel.buffer = name_of(buffer, bytes);
      if (channel.buffer.segment == 0) channel.buffer = stand_in_for(item);
    }
    channel.posted.store(item.number, std::memory_order_seq_cst);
    communicator_.board().row(item.message.peer).bell.advance();
    item.state = bytes <= kInlineMessage ? Item::State::kDone : Item::State::kPosted;
  }

  BufferName stand_in_for(Item& item) {
    const uint64_t bytes = item.bytes();
    item.stand_in.memory = device::allocate(communicator_.device(), bytes);
    copy(static_cast<std::byte*>(device::resolve(item.stand_in.memory, bytes)),
         static_cast<const std::byte*>(device::resolve(item.message.buffer, bytes)), bytes);
    return name_of(item.stand_in.memory, bytes);
  }

  bool receive(Item& item) {
    Channel& channel = communicator_.board().channel(item.message.peer, communicator_.rank());
    if (item.state != Item::State::kWaits || !reached(channel.posted, item.number) ||
        !reached(channel.taken, item.number - 1))
      return false;
    if (!(channel.call == item.call())) refuse(item, channel.call);
    const uint64_t bytes = item.bytes();
    const std::byte* const from =
        bytes <= kInlineMessage
            ? channel.data
            : address_in(communicator_.peer(item.message.peer), communicator_.link(item.message.peer), channel.buffer);
    if (bytes > 0) copy(static_cast<std::byte*>(device::resolve(item.message.buffer, bytes)), from, bytes);
    channel.taken.store(item.number, std::memory_order_seq_cst);
    communicator_.board().row(item.message.peer).bell.advance();
    item.state = Item::State::kDone;
    return true;
  }

  [[noreturn]] void refuse(const Item& item, const Call& sent) {
    communicator_.end(Result::kParameter,
                      fmt::format("EI0005: message #{} from {} to {}: {}", item.number,
                                  describe(communicator_.peer(item.message.peer)),
                                  describe(communicator_.peer(communicator_.rank())), difference(sent, item.call())));
  }

  Communicator& communicator_;
  std::vector<Item>& items_;
};

}  // namespace

void exchange(Communicator& communicator, Lane lane, std::vector<Message> messages) {
  for (const Message& message : messages) {
    check_rank(communicator, message.peer, message.receives ? "srcRank" : "destRank");
    check_buffer(communicator, message.buffer, message.count, message.element,
                 message.receives ? "recvBuf" : "sendBuf");
  }
  const char* const name = messages.size() == 1 ? (messages[0].receives ? "recv" : "send") : "batch_send_recv";
  communicator.launch(lane, name, [&] {
    auto items = std::make_shared<std::vector<Item>>();
    for (const Message& message : messages) {
      Item& item = items->emplace_back();
      item.message = message;
      item.number = message.receives ? communicator.next_received(message.peer) : communicator.next_sent(message.peer);
    }
    return [&communicator, items] { Exchange(communicator, *items).run(); };
  });
}

}  // namespace npu::comm
