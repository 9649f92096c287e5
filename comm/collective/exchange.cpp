// SPDX-License-Identifier: Apache-2.0
// Messages between two ranks. A small one is complete for its sender when it lies in the channel; a larger one when the
// receiver has copied it.
#include <fmt/format.h>

#include <memory>

#include "comm/collective/check.h"
#include "comm/collective/shown.h"
#include "comm/core/carried.h"
#include "comm/core/soc_limit.h"
#include "ops/runner/observer.h"

namespace npu::comm {
namespace {

NPU_COLLECTIVE(kSend, .id = 13, .name = "send", .posts = false);

struct Item {
  Message message;
  uint32_t number = 0;  // of the channel's messages
  enum class State { kWaits, kPosted, kDone } state = State::kWaits;
  std::shared_ptr<void> kept;  // by the transport

  Call call() const { return call_of(kSend, message.element, message.count, ReduceOp::kSum, message.tag); }
  std::string describe() const {
    return fmt::format("{} of {} elements of {} bytes", message.receives ? "recv" : "send", message.count,
                       message.element.bytes);
  }
};

Buffers buffers_of(const Message& message) {
  const uint64_t bytes = message.count * message.element.bytes;
  return message.receives ? Buffers{nullptr, 0, message.buffer, bytes} : Buffers{message.buffer, bytes, nullptr, 0};
}

std::vector<Shown> shown(const std::vector<Item>& items) {
  std::vector<Shown> all;
  all.reserve(items.size());
  for (const Item& item : items) all.push_back({item.call(), buffers_of(item.message)});
  return all;
}

class Exchange : Watch {
 public:
  Exchange(Communicator& communicator, std::vector<Item>& items)
      : communicator_(communicator), transport_(communicator.transport()), items_(items) {}

  void run() {
    for (;;) {
      const uint32_t heard = transport_.doorbell();
      bool moved = false;
      waiting_ = nullptr;
      for (Item& item : items_) {
        moved = (item.message.receives ? receive(item) : send(item)) || moved;
        if (waiting_ == nullptr && item.state != Item::State::kDone) waiting_ = &item;
      }
      if (waiting_ == nullptr) return;
      if (!moved) transport_.await_doorbell(heard, waiting_->message.peer, *this);
    }
  }

 private:
  void look_around(uint32_t whose, int64_t waited_ms) override {
    communicator_.look_around(waited_ms, whose, waiting_->describe());
  }

  bool send(Item& item) {
    if (item.state == Item::State::kWaits) return post(item);
    if (item.state == Item::State::kDone || !transport_.taken(item.message.peer, item.number)) return false;
    item.state = Item::State::kDone;
    return true;
  }

  bool post(Item& item) {
    switch (transport_.send(item.message.peer, item.number, item.call(), item.message.buffer, item.kept)) {
      case Transport::Sent::kBusy: return false;
      case Transport::Sent::kPosted: item.state = Item::State::kPosted; break;
      case Transport::Sent::kDone: item.state = Item::State::kDone; break;
    }
    return true;
  }

  bool receive(Item& item) {
    if (item.state != Item::State::kWaits) return false;
    const Call* const sent = transport_.message(item.message.peer, item.number);
    if (sent == nullptr) return false;
    if (!(*sent == item.call())) refuse(item, *sent);
    Carried::add(item.message.peer, communicator_.rank(), item.call().bytes());
    transport_.receive(item.message.peer, item.number, item.message.buffer);
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
  Transport& transport_;
  std::vector<Item>& items_;
  const Item* waiting_ = nullptr;
};

}  // namespace

void exchange(Communicator& communicator, Lane lane, std::vector<Message> messages) {
  for (const Message& message : messages) {
    check_rank(communicator, message.peer, message.receives ? "srcRank" : "destRank");
    check_buffer(communicator, message.buffer, message.count, message.element,
                 message.receives ? "recvBuf" : "sendBuf");
    check_soc_types(call_of(kSend, message.element, message.count));
  }
  const char* const name = messages.size() == 1 ? (messages[0].receives ? "recv" : "send") : "batch_send_recv";
  communicator.launch(lane, name, [&] {
    auto items = std::make_shared<std::vector<Item>>();
    for (const Message& message : messages) {
      Item& item = items->emplace_back();
      item.message = message;
      item.number = message.receives ? communicator.next_received(message.peer) : communicator.next_sent(message.peer);
    }
    return [&communicator, items, name] {
      const auto run = [&] { Exchange(communicator, *items).run(); };
      if (ops::observed()) [[unlikely]]
        return show(communicator, name, shown(*items), run);
      run();
    };
  });
}

}  // namespace npu::comm
