// SPDX-License-Identifier: Apache-2.0
#include <expat.h>
#include <fmt/format.h>
#include <minizip/unzip.h>

#include <charconv>
#include <cstring>
#include <functional>
#include <memory>

#include "tools/migrate/report/sheet.h"
#include "tools/migrate/text/source.h"

namespace npu::migrate {
namespace {

constexpr size_t kLargest = size_t{200} << 20;  // of one part, unpacked: a list of names is a hundredth of it
constexpr size_t kMostColumns = 64;

/// A part of the archive, unpacked; "" where it is not there.
std::string part(const std::string& path, unzFile archive, const char* name) {
  if (unzLocateFile(archive, name, 1) != UNZ_OK) return {};
  unz_file_info64 info{};
  const auto refuse = [&] { throw Refusal(fmt::format("{}: its part {} is damaged; save it anew", path, name)); };
  if (unzGetCurrentFileInfo64(archive, &info, nullptr, 0, nullptr, 0, nullptr, 0) != UNZ_OK ||
      info.uncompressed_size > kLargest || unzOpenCurrentFile(archive) != UNZ_OK)
    refuse();
  std::string out(info.uncompressed_size, '\0');
  const int got = unzReadCurrentFile(archive, out.data(), static_cast<unsigned>(out.size()));
  if (got < 0 || static_cast<size_t>(got) != out.size() || unzCloseCurrentFile(archive) != UNZ_OK) refuse();
  return out;
}

/// Reads XML; the names of elements come without the prefix of their namespace.
class Xml {
 public:
  using Attributes = const char**;
  std::function<void(std::string_view, Attributes)> begin;
  std::function<void(std::string_view)> end;
  std::function<void(std::string_view)> text;

  void read(const std::string& path, const std::string& bytes) {
    const std::unique_ptr<std::remove_pointer_t<XML_Parser>, void (*)(XML_Parser)> parser(XML_ParserCreate(nullptr),
                                                                                          XML_ParserFree);
    XML_SetUserData(parser.get(), this);
    XML_SetElementHandler(
        parser.get(),
        [](void* self, const char* name, Attributes list) { static_cast<Xml*>(self)->begin(bare(name), list); },
        [](void* self, const char* name) { static_cast<Xml*>(self)->end(bare(name)); });
    XML_SetCharacterDataHandler(parser.get(), [](void* self, const char* at, int size) {
      static_cast<Xml*>(self)->text({at, static_cast<size_t>(size)});
    });
    if (XML_Parse(parser.get(), bytes.data(), static_cast<int>(bytes.size()), 1) != XML_STATUS_OK)
      throw Refusal(
          fmt::format("{}: is damaged ({}); save it anew", path, XML_ErrorString(XML_GetErrorCode(parser.get()))));
  }

 private:
  static std::string_view bare(std::string_view name) {
    const size_t colon = name.find(':');
    return colon == name.npos ? name : name.substr(colon + 1);
  }
};

std::string_view attribute(Xml::Attributes list, const char* name) {
  for (; *list != nullptr; list += 2)
    if (std::strcmp(list[0], name) == 0) return list[1];
  return {};
}

std::vector<std::string> shared_texts(const std::string& path, const std::string& bytes) {
  std::vector<std::string> out;
  bool reading = false, spoken = false;  // rPh holds how a text is spoken
  Xml xml;
  xml.begin = [&](std::string_view name, Xml::Attributes) {
    if (name == "si") out.emplace_back();
    if (name == "rPh") spoken = true;
    if (name == "t") reading = !spoken && !out.empty();
  };
  xml.end = [&](std::string_view name) {
    if (name == "rPh") spoken = false;
    if (name == "t") reading = false;
  };
  xml.text = [&](std::string_view text) {
    if (reading) out.back() += text;
  };
  xml.read(path, bytes);
  return out;
}

/// Column of "BC12", from 0.
size_t column_of(std::string_view place) {
  size_t out = 0;
  for (const char c : place) {
    if (c < 'A' || c > 'Z') break;
    out = std::min(out * 26 + static_cast<size_t>(c - 'A') + 1, kMostColumns + 1);
  }
  return out == 0 ? 0 : out - 1;
}

Cells cells(const std::string& path, const std::string& bytes, const std::vector<std::string>& shared) {
  Cells out;
  size_t column = 0;
  bool reading = false, is_shared = false;
  std::string value;
  Xml xml;
  xml.begin = [&](std::string_view name, Xml::Attributes list) {
    if (name == "row") {
      out.emplace_back();
      column = 0;
    } else if (name == "c") {
      if (const std::string_view place = attribute(list, "r"); !place.empty()) column = column_of(place);
      is_shared = attribute(list, "t") == "s";
      value.clear();
    } else if (name == "v" || name == "t") {
      reading = true;
    }
  };
  xml.end = [&](std::string_view name) {
    if (name == "v" || name == "t") reading = false;
    if (name != "c" || out.empty()) return;
    if (is_shared) {
      size_t index = shared.size();
      std::from_chars(value.data(), value.data() + value.size(), index);
      value = index < shared.size() ? shared[index] : "";
    }
    if (column < kMostColumns && !value.empty()) {
      if (out.back().size() <= column) out.back().resize(column + 1);
      out.back()[column] = value;
    }
    ++column;
  };
  xml.text = [&](std::string_view text) {
    if (reading) value += text;
  };
  xml.read(path, bytes);
  return out;
}

}  // namespace

Cells read_sheet(const std::string& path) {
  const std::unique_ptr<void, int (*)(unzFile)> archive(unzOpen64(path.c_str()), unzClose);
  if (!archive)
    throw Refusal(fmt::format("{}: cannot be read as an .xlsx workbook; check the path, or save it anew", path));
  const std::string sheet = part(path, archive.get(), "xl/worksheets/sheet1.xml");
  if (sheet.empty()) throw Refusal(fmt::format("{}: holds no sheet; is it an .xlsx workbook?", path));
  const std::string texts = part(path, archive.get(), "xl/sharedStrings.xml");
  return cells(path, sheet, texts.empty() ? std::vector<std::string>() : shared_texts(path, texts));
}

}  // namespace npu::migrate
