// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/output/draft.h"

#include <cerrno>
#include <system_error>
#include <utility>

#include "base/error.h"

namespace npu::profile {
namespace {

namespace fs = std::filesystem;

const char* cure(int reason) {
  switch (reason) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG: return "make room on its disk and export again, or copy the PROF_… to another disk and export that";
    case EACCES:
    case EPERM:
    case EROFS: return "copy the PROF_… to a folder that you may write, and export that";
    case ENOTDIR:
    case EEXIST:
    case EISDIR: return "move away what stands there, and export again";
    default: return "export again, or copy the PROF_… to another disk and export that";
  }
}

fs::path beside(fs::path path) { return path += ".part"; }

}  // namespace

void cannot_write(const fs::path& path, int reason) {
  fail(Code::kInvalidFile, "{} could not be written: {}; {}", path.string(),
       std::generic_category().message(reason == 0 ? EIO : reason), cure(reason));
}

void make_folder(const fs::path& place) {
  std::error_code error;
  fs::create_directories(place, error);
  if (error) cannot_write(place, error.value());
}

Draft::Draft(fs::path path) : path_(std::move(path)), part_(beside(path_)) {
  std::error_code nothing_there;
  fs::remove(part_, nothing_there);
}

Draft::~Draft() {
  std::error_code gone;
  if (!kept_) fs::remove(part_, gone);
}

void Draft::keep() {
  std::error_code error;
  fs::rename(part_, path_, error);
  if (error) cannot_write(path_, error.value());
  kept_ = true;
}

}  // namespace npu::profile
