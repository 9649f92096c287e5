// SPDX-License-Identifier: Apache-2.0
// The number that the linker gave the library, of all of its content; where there is none, the file it was loaded from.
#include <elf.h>
#include <fmt/format.h>
#include <link.h>
#include <sys/stat.h>

#include <cstring>

#include "graph/cache/key.h"

namespace npu::graph::cache {
namespace {

bool holds(const dl_phdr_info& object, uintptr_t address) {
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const auto& segment = object.dlpi_phdr[i];
    const uintptr_t begin = object.dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && address >= begin && address - begin < segment.p_memsz) return true;
  }
  return false;
}

size_t padded(size_t size) { return (size + 3) / 4 * 4; }

/// The digits of the note, or "".
std::string build_id(const ElfW(Phdr) & notes, uintptr_t base) {
  const auto* at = reinterpret_cast<const char*>(base + notes.p_vaddr);
  const char* const end = at + notes.p_memsz;
  while (at + sizeof(ElfW(Nhdr)) <= end) {
    ElfW(Nhdr) note;
    std::memcpy(&note, at, sizeof note);
    const char* name = at + sizeof note;
    const char* content = name + padded(note.n_namesz);
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0) {
      std::string digits;
      for (size_t i = 0; i < note.n_descsz; ++i)
        digits += fmt::format("{:02x}", static_cast<unsigned char>(content[i]));
      return digits;
    }
    at = content + padded(note.n_descsz);
  }
  return "";
}

std::string file_facts(const char* path) {
  struct stat facts {};
  const char* file = path[0] == '\0' ? "/proc/self/exe" : path;
  if (stat(file, &facts) != 0) return fmt::format("of {} {}", __DATE__, __TIME__);
  return fmt::format("of {} bytes at {}.{}", facts.st_size, facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec);
}

int visit(dl_phdr_info* object, size_t /*size*/, void* found) {
  static const char here = 0;
  if (!holds(*object, reinterpret_cast<uintptr_t>(&here))) return 0;
  auto& text = *static_cast<std::string*>(found);
  for (int i = 0; i < object->dlpi_phnum && text.empty(); ++i)
    if (object->dlpi_phdr[i].p_type == PT_NOTE) text = build_id(object->dlpi_phdr[i], object->dlpi_addr);
  if (text.empty()) text = file_facts(object->dlpi_name);
  return 1;
}

std::string find_build() {
  std::string found;
  dl_iterate_phdr(visit, &found);
  return found;
}

}  // namespace

const std::string& build() {
  static const std::string& found = *new std::string(find_build());
  return found;
}

}  // namespace npu::graph::cache
