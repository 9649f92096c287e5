// SPDX-License-Identifier: Apache-2.0
#include "comm/transport/shared_memory/board.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <new>
#include <thread>

#include "comm/core/fault.h"
#include "comm/core/order.h"

namespace npu::comm {

namespace {

constexpr uint64_t kMagic = 0x3542434c434e594e;  // changes with the layout

constexpr size_t round_up(size_t bytes) { return (bytes + 4095) / 4096 * 4096; }

size_t extents_at(size_t ranks) { return kBoardSeatsAt + round_up(ranks * sizeof(Seat)); }
size_t channels_at(size_t ranks, size_t parts) {
  return extents_at(ranks) + round_up(2 * ranks * parts * sizeof(Extent));
}
size_t orders_at(size_t ranks, size_t parts) {
  return channels_at(ranks, parts) + round_up(ranks * ranks * sizeof(Channel));
}
size_t total(size_t ranks, size_t parts) { return orders_at(ranks, parts) + 2 * ranks * (Order::kMostBytes + 1); }

}  // namespace

struct Board::Head {
  enum State : uint32_t { kRuns = 0, kEnding = 1, kEnded = 2 };
  uint64_t magic;
  uint32_t ranks, processors;
  char uid[128];
  std::atomic<uint32_t> state;
  int32_t result;
  char text[2048];
};

void Seat::wake() {
  phase.wake();
  for (Post& post : posts) post.come.wake();
}

// Pages of a memfd read as zeros until they are written, and zeros are the first state of everything here.
Board::Board(uint32_t ranks, uint32_t parts, std::string_view uid)
    : ranks_(ranks), parts_(parts), bytes_(total(ranks, parts)) {
  fd_ = memfd_create("anynpu-board", MFD_CLOEXEC);
  if (fd_ < 0 || ftruncate(fd_, static_cast<off_t>(bytes_)) != 0) {
    const int error = errno;
    if (fd_ >= 0) close(fd_);
    fault(Result::kMemory, "EI0007: the system gives no shared memory for {} ranks ({}); check `ulimit -a`", ranks,
          std::strerror(error));
  }
  map();
  head().ranks = ranks;
  head().processors = std::max(1u, std::thread::hardware_concurrency());
  uid.copy(head().uid, sizeof(head().uid) - 1);
  head().magic = kMagic;
}

Board::Board(int fd, uint32_t ranks, uint32_t parts, std::string_view uid)
    : ranks_(ranks), parts_(parts), fd_(fd), bytes_(total(ranks, parts)) {
  struct stat info {};
  if (fstat(fd, &info) != 0 || static_cast<size_t>(info.st_size) != bytes_) {
    close(fd);
    fault(Result::kInternal,
          "EI0008: a peer's board has {} bytes, not {}; all ranks must run the same version of AnyNPU", info.st_size,
          bytes_);
  }
  map();
  if (head().magic == kMagic && head().ranks == ranks && uid == head().uid) return;
  munmap(memory_, bytes_);
  close(fd_);
  fault(Result::kInternal,
        "EI0008: a peer's board is of another communicator or version; all ranks must run the same "
        "version of AnyNPU");
}

Board::~Board() {
  munmap(memory_, bytes_);
  close(fd_);
}

void Board::map() {
  void* memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd_, 0);
  if (memory == MAP_FAILED) {
    const int error = errno;
    close(fd_);
    fault(Result::kMemory, "EI0007: the system cannot map the board of {} ranks ({}); check `ulimit -v`", ranks_,
          std::strerror(error));
  }
  madvise(memory, bytes_, MADV_DONTFORK);
  memory_ = static_cast<std::byte*>(memory);
}

uint32_t Board::processors() const { return head().processors; }

Extent* Board::extents(uint32_t rank, uint32_t parity) const {
  return reinterpret_cast<Extent*>(memory_ + extents_at(ranks_)) + (size_t{parity} * ranks_ + rank) * parts_;
}

char* Board::order_at(uint32_t rank, uint32_t parity) const {
  char* const first = reinterpret_cast<char*>(memory_ + orders_at(ranks_, parts_));
  return first + (size_t{parity} * ranks_ + rank) * (Order::kMostBytes + 1);
}

void Board::show_order(uint32_t rank, uint32_t parity, std::string_view text) {
  order_at(rank, parity)[text.copy(order_at(rank, parity), Order::kMostBytes)] = '\0';
}

std::string Board::order(uint32_t rank, uint32_t parity) const {
  const char* const text = order_at(rank, parity);
  return {text, strnlen(text, Order::kMostBytes)};
}

Channel& Board::channel(uint32_t from, uint32_t to) const {
  return reinterpret_cast<Channel*>(memory_ + channels_at(ranks_, parts_))[size_t{from} * ranks_ + to];
}

void Board::abort(int32_t result, std::string_view text) {
  uint32_t runs = Head::kRuns;
  if (!head().state.compare_exchange_strong(runs, Head::kEnding)) {
    // Whoever writes its reason needs microseconds, unless it was killed meanwhile; then this one counts.
    for (int i = 0; i < 1000 && head().state == Head::kEnding; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (head().state != Head::kEnding) return;
    std::memset(head().text, 0, sizeof(head().text));
  }
  head().result = result;
  text.copy(head().text, sizeof(head().text) - 1);
  head().state.store(Head::kEnded, std::memory_order_seq_cst);
  wake_all();
}

bool Board::aborted() const { return head().state.load(std::memory_order_seq_cst) == Head::kEnded; }

Transport::Reason Board::reason() const {
  return {head().result, std::string(head().text, strnlen(head().text, sizeof(head().text)))};
}

void Board::wake_all() {
  for (uint32_t rank = 0; rank < ranks_; ++rank) {
    seat(rank).wake();
    seat(rank).doorbell.wake();
  }
}

}  // namespace npu::comm
