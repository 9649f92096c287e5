// SPDX-License-Identifier: Apache-2.0
#include "device/process/status_page.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "base/file.h"
#include "base/log.h"
#include "device/process/soc.h"

namespace npu::device {
namespace {

constexpr uint64_t kMagic = 0x314d53554e594e41;  // "ANYNUSM1": changes with the layout

struct Page {
  std::atomic<uint64_t> magic{0};  // written last, so a reader never sees half a page
  int32_t pid = 0;
  int32_t device_count = 0;
  uint64_t start_ticks = 0;  // tells a new process of the same number from ours
  char name[64] = {};
  char soc[32] = {};
  DeviceCounters devices[kMaxDevices];
};

// In force until a page is published, and for good where none can be.
constinit Page private_page{};
constinit std::atomic<Page*> page{&private_page};
std::string& page_path() {
  static std::string& path = *new std::string;
  return path;
}

// Field 22 of /proc/<pid>/stat, counted behind the name, which may hold blanks and brackets. 0 when there is no
// process.
uint64_t start_ticks_of(pid_t pid) {
  const std::string text = whole_file(fmt::format("/proc/{}/stat", pid)).value_or("");
  const size_t bracket = text.rfind(')');
  if (bracket == std::string::npos) return 0;
  std::istringstream rest(text.substr(bracket + 1));
  std::string field;
  for (int i = 3; i <= 21; ++i) rest >> field;
  uint64_t ticks = 0;
  rest >> ticks;
  return ticks;
}

// The folder must be ours and closed to others: a page is written by us and believed by readers.
bool usable_folder(const std::string& path) {
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return false;
  struct stat info {};
  return lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == getuid() &&
         (info.st_mode & 077) == 0;
}

Page* map_page(const std::string& path) {
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return nullptr;
  void* memory = MAP_FAILED;
  // Blocks are allocated here, because writing to a mapping on a full disk would kill the process.
  if (posix_fallocate(fd, 0, sizeof(Page)) == 0) {
    memory = mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  }
  close(fd);
  if (memory == MAP_FAILED) {
    unlink(path.c_str());
    return nullptr;
  }
  return new (memory) Page;
}

std::string program_name() {
  std::ifstream file("/proc/self/comm");
  std::string name;
  std::getline(file, name);
  return name;
}

void copy_text(char* target, size_t size, const std::string& text) {
  const size_t length = std::min(size - 1, text.size());
  std::memcpy(target, text.data(), length);
  target[length] = '\0';
}

ProcessStatus read(const Page& source) {
  ProcessStatus out;
  out.pid = source.pid;
  out.name.assign(source.name, strnlen(source.name, sizeof(source.name)));
  out.soc.assign(source.soc, strnlen(source.soc, sizeof(source.soc)));
  out.device_count = std::clamp(source.device_count, 0, kMaxDevices);
  for (int i = 0; i < out.device_count; ++i) {
    const DeviceCounters& from = source.devices[i];
    DeviceStatus status{i, from.capacity, from.used, from.high_water, from.tasks, from.busy_ns};
    if (status.capacity != 0 || status.tasks != 0) out.devices.push_back(status);
  }
  return out;
}

// Adds the page at `path`; removes it when its process is gone.
void read_file(const std::string& path, std::vector<ProcessStatus>& out) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return;
  struct stat info {};
  void* memory = MAP_FAILED;
  if (fstat(fd, &info) == 0 && info.st_uid == getuid() && static_cast<size_t>(info.st_size) >= sizeof(Page)) {
    memory = mmap(nullptr, sizeof(Page), PROT_READ, MAP_SHARED, fd, 0);
  }
  close(fd);
  if (memory == MAP_FAILED) return;
  const Page& source = *static_cast<const Page*>(memory);
  if (source.magic.load(std::memory_order_acquire) == kMagic) {
    if (start_ticks_of(source.pid) == source.start_ticks) {
      out.push_back(read(source));
    } else {
      unlink(path.c_str());
    }
  }
  munmap(memory, sizeof(Page));
}

}  // namespace

std::string runtime_folder() {
  if (const char* runtime = std::getenv("XDG_RUNTIME_DIR"); runtime != nullptr && *runtime == '/') {
    const std::string path = fmt::format("{}/anynpu", runtime);
    if (usable_folder(path)) return path;
    NPU_SECURITY_LOG(kWarning, "DRV", "{} is not used: it must be this user's own and closed to others", path);
  }
  const char* temp = std::getenv("TMPDIR");
  const std::string path = fmt::format("{}/anynpu-{}", temp != nullptr && *temp == '/' ? temp : "/tmp", getuid());
  return usable_folder(path) ? path : std::string();
}

DeviceCounters& counters(int device) {
  return page.load(std::memory_order_relaxed)->devices[static_cast<size_t>(device)];
}

void detail::publish_status_page() {
  const std::string folder = runtime_folder();
  if (folder.empty()) return;
  read_status_pages();  // removes those of dead processes
  page_path() = fmt::format("{}/{}.page", folder, getpid());
  unlink(page_path().c_str());  // left behind by a dead process of our number
  Page* mine = map_page(page_path());
  if (mine == nullptr) return page_path().clear();
  mine->pid = getpid();
  mine->device_count = device_count();
  mine->start_ticks = start_ticks_of(getpid());
  copy_text(mine->name, sizeof(mine->name), program_name());
  copy_text(mine->soc, sizeof(mine->soc), soc().name);
  mine->magic.store(kMagic, std::memory_order_release);
  page.store(mine, std::memory_order_release);
}

// The mapping stays: counters may still be touched by threads that outlive the hook.
void detail::remove_status_page() {
  if (!page_path().empty()) unlink(page_path().c_str());
}

std::vector<ProcessStatus> read_status_pages() {
  std::vector<ProcessStatus> out;
  const std::string folder = runtime_folder();
  DIR* listing = folder.empty() ? nullptr : opendir(folder.c_str());
  if (listing == nullptr) return out;
  while (const dirent* entry = readdir(listing)) {
    const std::string name = entry->d_name;
    if (name.ends_with(".page")) read_file(fmt::format("{}/{}", folder, name), out);
  }
  closedir(listing);
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.pid < b.pid; });
  return out;
}

}  // namespace npu::device
