// SPDX-License-Identifier: Apache-2.0
#include "device/trace/recording.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "device/trace/text.h"

namespace npu::device::trace {

TextFile::TextFile(const std::filesystem::path& path)
    : path_(path), file_(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640)) {
  if (file_ < 0) refuse();
}

TextFile::~TextFile() { close(file_); }

void TextFile::add(std::string_view text) {
  const auto length = static_cast<uint32_t>(text.size());
  std::string entry(sizeof length + text.size(), '\0');
  std::memcpy(entry.data(), &length, sizeof length);
  text.copy(entry.data() + sizeof length, text.size());
  for (size_t done = 0; done < entry.size();) {
    const ssize_t written = ::write(file_, entry.data() + done, entry.size() - done);
    if (written < 0 && errno != EINTR) refuse();
    done += static_cast<size_t>(std::max<ssize_t>(written, 0));
  }
}

void TextFile::refuse() const { fail(Code::kInvalidParam, "{}: {}", path_.string(), std::strerror(errno)); }

Recording::Recording(const std::string& folder)
    : folder_(folder),
      texts_(folder_ / "host/data" / kTextFile),
      calls_(folder_ / "host/data" / kCallFile),
      marks_(folder_ / "host/data" / kMarkFile),
      memory_(folder_ / "host/data" / kMemoryFile),
      graphs_(folder_ / "host/data" / kGraphFile),
      groups_(folder_ / "host/data" / kGroupFile),
      links_(folder_ / "host/data" / kLinkFile) {
  for_each_text([&](std::string_view text) { texts_.add(text); });
}

PieceFile& Recording::file_of(const TaskRecord& record) {
  std::unique_ptr<PieceFile>& file = tasks_[record.device];
  if (!file) {
    const std::filesystem::path data = folder_ / fmt::format("device_{}", record.device) / "data";
    std::filesystem::create_directories(data);
    file = std::make_unique<PieceFile>(data / kTaskFile);
  }
  return *file;
}

}  // namespace npu::device::trace
