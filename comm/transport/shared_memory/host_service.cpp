// SPDX-License-Identifier: Apache-2.0
#include "comm/transport/shared_memory/host_service.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <thread>
#include <vector>

#include "base/file.h"
#include "base/masked_signals.h"
#include "base/setting.h"
#include "comm/core/fault.h"
#include "comm/transport/shared_memory/packet.h"
#include "device/memory/share.h"
#include "device/process/status_page.h"

namespace npu::comm {
namespace {

NPU_SETTING(std::string, own_host, "ANYNPU_HOST", "",
            "A name for this host. Processes that give different ones talk over the network, also on one machine.");

constexpr int kBeatMs = 500;
constexpr int kAnswerMs = 10'000;
constexpr uint32_t kMagic = 0x334e414e;  // changes with the form of the packets

struct Request {
  uint32_t magic = kMagic;
  uint32_t what = 0;
  uint64_t question = 0;  // an answer that came too late for its question is not taken for the next one's
  uint64_t number = 0;
  char uid[128] = {};
};
struct Answer {
  uint64_t question = 0;
  uint64_t found = 0;
  uint64_t bytes = 0;
  char failure[1024] = {};
};

std::string random_name() {
  std::random_device random;
  std::string out;
  for (int i = 0; i < 4; ++i) out += fmt::format("{:08x}", random());
  return out;
}

bool address_of(const std::string& path, sockaddr_un* out) {
  *out = {};
  out->sun_family = AF_UNIX;
  if (path.size() >= sizeof(out->sun_path)) return false;
  path.copy(out->sun_path, sizeof(out->sun_path) - 1);
  return true;
}

int connect_to(const std::string& path) {
  sockaddr_un address;
  if (!address_of(path, &address)) return -1;
  const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (fd >= 0 && connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0) return fd;
  if (fd >= 0) close(fd);
  return -1;
}

/// Sockets of processes that were killed; nobody answers there.
void remove_dead_sockets(const std::string& folder) {
  DIR* listing = opendir(folder.c_str());
  if (listing == nullptr) return;
  while (const dirent* entry = readdir(listing)) {
    const std::string name = entry->d_name;
    if (!name.ends_with(".sock")) continue;
    const std::string path = folder + "/" + name;
    const int fd = connect_to(path);
    if (fd >= 0)
      close(fd);
    else if (errno == ECONNREFUSED)
      unlink(path.c_str());
  }
  closedir(listing);
}

/// A descriptor whose file holds the process's identity.
int identity_file(const std::string& process) {
  const int fd = memfd_create("anynpu-identity", MFD_CLOEXEC);
  if (fd >= 0 && write(fd, process.data(), process.size()) == static_cast<ssize_t>(process.size())) return fd;
  const int error = errno;
  if (fd >= 0) close(fd);
  fault(Result::kMemory, "EI0007: the system gives no shared memory ({}); check `ulimit -a`", std::strerror(error));
}

/// Whether a process whose connection broke goes on. Asking it would not do: it may be asking this one.
bool is_alive(const Peer& peer) {
  const std::string text = whole_file(fmt::format("/proc/{}/stat", peer.pid)).value_or("");
  std::istringstream fields(text.substr(text.rfind(')') + 1));  // behind its name
  char state = 'X';
  int64_t parent, group, session, terminal, foreground;
  uint64_t flags = 0;
  fields >> state >> parent >> group >> session >> terminal >> foreground >> flags;
  constexpr uint64_t kExiting = 4;  // PF_EXITING; set before descriptors are closed
  return fields && state != 'Z' && state != 'X' && (flags & kExiting) == 0;
}

/// The machine, which tells one boot from all others, and the folder on it.
std::string domain_of(const std::string& folder) {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string boot;
  std::getline(file, boot);
  struct stat info {};
  stat(folder.c_str(), &info);
  return fmt::format("{}/{}:{}", boot, info.st_dev, info.st_ino);
}

bool holds(int fd, const std::string& process) {
  std::array<char, 64> text{};
  const ssize_t got = pread(fd, text.data(), text.size(), 0);
  return got >= 0 && std::string_view(text.data(), static_cast<size_t>(got)) == process;
}

}  // namespace

struct HostService::State {
  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  /// Of a service that could not start; others live as long as their process.
  ~State() {
    for (const int fd : {listener, wake, identity})
      if (fd >= 0) close(fd);
  }
  void listen_at(const std::string& path);

  std::mutex mutex;
  int listener = -1, wake = -1, identity = -1;
  std::map<std::string, int> boards;
  std::map<std::string, std::string> failures;       // of boards that were not made
  std::map<std::string, std::weak_ptr<Link>> links;  // by process
  std::map<std::string, bool> ended_links;           // by process: whether it is alive
  std::vector<int> clients;                          // the thread's own
  std::atomic<void (*)()> beat = nullptr;
  std::atomic<void (*)(const std::string&, bool)> ended = nullptr;

  void serve(int client, bool* gone);
  void take_client();
  void answer(int client);
  void look_around();
  std::vector<std::shared_ptr<Link>> watched();
  void tell_end(const Peer& peer);
};

HostService& HostService::get() {
  static HostService& instance = *new HostService;
  return instance;
}

// Whoever tidies up takes a socket at which nobody listens for a dead one's: it gets its name when it listens.
void HostService::State::listen_at(const std::string& path) {
  sockaddr_un address, unnamed;
  const std::string before_it_listens = path.substr(0, path.size() - 5) + ".new";
  if (!address_of(path, &address) || !address_of(before_it_listens, &unnamed))
    fault(Result::kUnavailable,
          "the path of the socket {} is longer than a socket's may be ({}); set XDG_RUNTIME_DIR to "
          "a shorter one",
          path, sizeof(address.sun_path) - 1);
  listener = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listener >= 0 && bind(listener, reinterpret_cast<sockaddr*>(&unnamed), sizeof(unnamed)) == 0 &&
      listen(listener, 512) == 0 && rename(before_it_listens.c_str(), path.c_str()) == 0)
    return;
  const int error = errno;
  unlink(before_it_listens.c_str());
  fault(Result::kUnavailable, "the socket {} cannot be made: {}", path, std::strerror(error));
}

std::string HostService::host() { return own_host(); }

HostService::HostService() : process_(random_name()) {
  const std::string folder = device::runtime_folder();
  if (folder.empty())
    fault(Result::kUnavailable,
          "no folder for sockets: XDG_RUNTIME_DIR and TMPDIR (/tmp) cannot be written; set one to a folder of yours");
  remove_dead_sockets(folder);
  domain_ = host().empty() ? domain_of(folder) : "ANYNPU_HOST=" + host();
  path_ = fmt::format("{}/{}-{}.sock", folder, getpid(), process_.substr(0, 8));
  auto state = std::make_unique<State>();
  state->identity = identity_file(process_);
  state->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (state->wake < 0)
    fault(Result::kSystemCall, "the system gives no descriptor ({}); check `ulimit -n`", std::strerror(errno));
  state->listen_at(path_);  // last: from now on others can see it
  state_ = state.release();
  static const std::string& path = *new std::string(path_);
  static const pid_t owner = getpid();
  std::atexit([] {
    if (getpid() == owner) unlink(path.c_str());  // a forked child that exits leaves its parent's
  });
  const MaskedSignals masked;
  std::thread([this] {
    pthread_setname_np(pthread_self(), "npu-host");
    run();
  }).detach();
}

void HostService::publish_board(const std::string& uid, int fd) {
  const std::lock_guard lock(state_->mutex);
  state_->boards[uid] = fd;
}

void HostService::withdraw_board(const std::string& uid) {
  const std::lock_guard lock(state_->mutex);
  state_->boards.erase(uid);
}

void HostService::publish_failure(const std::string& uid, const std::string& text) {
  const std::lock_guard lock(state_->mutex);
  state_->failures[uid] = text;
}

int HostService::board(const std::string& uid) {
  const std::lock_guard lock(state_->mutex);
  if (const auto why = state_->failures.find(uid); why != state_->failures.end())
    fault(Result::kRemote, "{}", why->second);
  const auto found = state_->boards.find(uid);
  return found == state_->boards.end() ? -1 : fcntl(found->second, F_DUPFD_CLOEXEC, 0);
}

void HostService::set_hooks(void (*beat)(), void (*ended)(const std::string&, bool)) {
  state_->beat = beat;
  state_->ended = ended;
}

void HostService::State::serve(int client, bool* gone) {
  Request request;
  int none = -1;
  *gone = !receive_packet(client, &request, sizeof(request), &none) || request.magic != kMagic;
  if (none >= 0) close(none);
  if (*gone) return;
  Answer answer{request.question, 0, 0};
  int fd = -1;
  const std::lock_guard lock(mutex);
  switch (request.what) {
    case static_cast<uint32_t>(Link::What::kIdentity): fd = identity; break;
    case static_cast<uint32_t>(Link::What::kSegment): {
      const device::Segment segment = device::find_segment(request.number);
      fd = segment.fd;
      answer.bytes = segment.bytes;
      break;
    }
    case static_cast<uint32_t>(Link::What::kBoard): {
      const std::string uid(request.uid, strnlen(request.uid, sizeof(request.uid)));
      if (const auto found = boards.find(uid); found != boards.end()) fd = found->second;
      if (const auto why = failures.find(uid); why != failures.end())
        why->second.copy(answer.failure, sizeof(answer.failure) - 1);
      break;
    }
    default: break;
  }
  answer.found = fd >= 0;
  *gone = !send_packet(client, &answer, sizeof(answer), fd);
}

std::vector<std::shared_ptr<Link>> HostService::State::watched() {
  const std::lock_guard lock(mutex);
  std::vector<std::shared_ptr<Link>> out;
  std::erase_if(links, [](const auto& each) { return each.second.expired(); });
  for (const auto& [process, link] : links)
    if (std::shared_ptr<Link> alive = link.lock(); alive != nullptr && !ended_links.contains(process))
      out.push_back(std::move(alive));
  return out;
}

void HostService::State::take_client() {
  const int client = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
  if (client >= 0) return clients.push_back(client);
  // Somebody has closed all descriptors of this process, as daemons do: no new links, and no thread that runs hot.
  if (errno == EBADF || errno == EINVAL || errno == ENOTSOCK) listener = -1;
}

void HostService::State::answer(int client) {
  bool gone = false;
  serve(client, &gone);
  if (!gone) return;
  close(client);
  std::erase(clients, client);
}

// Links are watched for their end only: what comes over them belongs to whoever asked.
void HostService::State::look_around() {
  const std::vector<std::shared_ptr<Link>> alive = watched();
  std::vector<pollfd> fds = {{listener, POLLIN, 0}, {wake, POLLIN, 0}};
  for (const int client : clients) fds.push_back({client, POLLIN, 0});
  const size_t first_link = fds.size();
  for (const auto& link : alive) fds.push_back({link->fd_, POLLRDHUP, 0});
  poll(fds.data(), fds.size(), kBeatMs);
  if (fds[0].revents != 0) take_client();
  if (uint64_t count; fds[1].revents != 0 && read(wake, &count, sizeof(count)) < 0) fds[1].revents = 0;
  for (size_t i = 2; i < first_link; ++i)
    if (fds[i].revents != 0) answer(fds[i].fd);
  for (size_t i = first_link; i < fds.size(); ++i)
    if (fds[i].revents != 0) tell_end(alive[i - first_link]->peer_);
  if (auto* hook = beat.load()) hook();
}

void HostService::State::tell_end(const Peer& peer) {
  const bool alive = is_alive(peer);
  {
    const std::lock_guard lock(mutex);
    ended_links.emplace(peer.process, alive);
  }
  if (auto* hook = ended.load()) hook(peer.process, alive);
}

bool HostService::has_ended(const std::string& process) {
  const std::lock_guard lock(state_->mutex);
  return state_->ended_links.contains(process);
}

void HostService::look_again() {
  const uint64_t one = 1;
  if (write(state_->wake, &one, sizeof(one)) < 0) return;  // the thread looks twice a second anyway
}

void HostService::run() {
  for (;;) state_->look_around();
}

std::shared_ptr<Link> Link::to(const Peer& peer) {
  HostService& service = HostService::get();
  HostService::State& state = *service.state_;
  {
    const std::lock_guard lock(state.mutex);
    if (const auto found = state.links.find(peer.process);
        found != state.links.end() && !state.ended_links.contains(peer.process))
      if (std::shared_ptr<Link> alive = found->second.lock()) return alive;
  }
  const int fd = connect_to(peer.socket);
  if (fd < 0) return nullptr;
  const timeval patience{kAnswerMs / 1000, 0};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  std::shared_ptr<Link> link(new Link(fd, peer));
  const int identity = link->ask(What::kIdentity, 0, "").fd;
  const bool proven = identity >= 0 && holds(identity, peer.process);
  if (identity >= 0) close(identity);
  if (!proven) return nullptr;
  const std::lock_guard lock(state.mutex);
  std::weak_ptr<Link>& place = state.links[peer.process];
  // After a reset the process is there again.
  const bool again = state.ended_links.erase(peer.process) != 0;
  if (std::shared_ptr<Link> other = place.lock(); other != nullptr && !again) return other;  // a faster thread's
  place = link;
  service.look_again();
  return link;
}

Link::~Link() {
  for (const auto& [number, memory] : segments_) munmap(memory.data(), memory.size());
  close(fd_);
}

Link::Reply Link::ask(What what, uint64_t number, const std::string& uid) {
  Request request;
  request.what = static_cast<uint32_t>(what);
  request.number = number;
  uid.copy(request.uid, sizeof(request.uid) - 1);
  const std::lock_guard lock(mutex_);
  request.question = ++questions_;
  if (!send_packet(fd_, &request, sizeof(request), -1)) return {};
  for (;;) {
    Answer answer;
    Reply reply;
    const bool got = receive_packet(fd_, &answer, sizeof(answer), &reply.fd);
    if (got && answer.question == request.question && answer.found != 0) {
      reply.bytes = answer.bytes;
      return reply;
    }
    if (reply.fd >= 0) close(reply.fd);
    if (!got) return {};
    if (answer.question == request.question)
      return {-1, 0, std::string(answer.failure, strnlen(answer.failure, sizeof(answer.failure)))};
  }
}

std::span<std::byte> Link::map_segment(uint64_t number) {
  const Reply reply = ask(What::kSegment, number, "");
  if (reply.fd < 0)
    fault(Result::kRemote, "EI0007: {} does not give its memory (segment {}); its process has ended", describe(peer_),
          number);
  void* base = mmap(nullptr, reply.bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, reply.fd, 0);
  const int error = errno;
  close(reply.fd);
  if (base == MAP_FAILED)
    fault(Result::kMemory,
          "EI0007: the memory of {} ({} bytes) cannot be mapped ({}); lower ANYNPU_MEMORY, or check "
          "`ulimit -v`",
          describe(peer_), reply.bytes, std::strerror(error));
  madvise(base, reply.bytes, MADV_DONTFORK);
  madvise(base, reply.bytes, MADV_DONTDUMP);
  return {static_cast<std::byte*>(base), reply.bytes};
}

std::span<std::byte> Link::segment(uint64_t number) {
  const std::lock_guard lock(mapping_);
  const auto found = segments_.find(number);
  return found != segments_.end() ? found->second : segments_.emplace(number, map_segment(number)).first->second;
}

int Link::fetch_board(const std::string& uid) {
  const Reply reply = ask(What::kBoard, 0, uid);
  if (!reply.failure.empty()) fault(Result::kRemote, "{}", reply.failure);
  return reply.fd;
}

}  // namespace npu::comm
