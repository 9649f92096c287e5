// SPDX-License-Identifier: Apache-2.0
#include "graph/model/container.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "graph/model/digest.h"
#include "graph/model/stream.h"

namespace npu::graph::model {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string small() {
  const std::pair<SectionKind, std::string> sections[] = {
      {SectionKind::kNote, "a note"}, {SectionKind::kData, std::string(100, 'x')}, {SectionKind::kTexts, ""}};
  return to_container(sections);
}

std::string refusal_of(std::string_view bytes) {
  try {
    const Container container(bytes_of(bytes));
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kParseFile);
    return e.message();
  }
  return "";
}

TEST(Container, GivesItsSections) {
  const std::string file = small();
  const Container container(bytes_of(file));
  EXPECT_EQ(text_of(container.section(SectionKind::kNote)), "a note");
  EXPECT_EQ(text_of(container.section(SectionKind::kData)), std::string(100, 'x'));
  EXPECT_TRUE(container.section(SectionKind::kTexts).empty());
  EXPECT_TRUE(container.section(SectionKind::kFunctions).empty()) << "there is none";
}

TEST(Container, SectionsBeginAtMultiplesOf64) {
  const std::string file = small();
  const Container container(bytes_of(file));
  for (const SectionKind kind : {SectionKind::kNote, SectionKind::kData}) {
    const auto at = reinterpret_cast<const char*>(container.section(kind).data()) - file.data();
    EXPECT_EQ(at % 64, 0) << at;
  }
}

TEST(Container, IsRefusedWhereverItIsCut) {
  const std::string file = small();
  EXPECT_EQ(refusal_of(file), "");
  for (size_t length = 0; length < file.size(); ++length) EXPECT_NE(refusal_of(file.substr(0, length)), "") << length;
  EXPECT_NE(refusal_of(file + "x"), "");
}

TEST(Container, AnyOtherByteIsFound) {
  const std::string file = small();
  for (size_t at = 0; at < file.size(); ++at)
    for (const int bit : {0, 7}) {
      std::string damaged = file;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      EXPECT_NE(refusal_of(damaged), "") << at;
    }
}

TEST(Container, SaysWhatIsWrong) {
  std::string file = small();
  EXPECT_EQ(refusal_of("ELF and so on"), "it is no container of compiled functions");
  EXPECT_NE(refusal_of(file.substr(0, 200)).find("has 200 bytes of"), std::string::npos);
  file[file.find("a note")] ^= 1;
  EXPECT_NE(refusal_of(file).find("checksum"), std::string::npos);
  file = small();
  file[8] = 3;
  EXPECT_EQ(refusal_of(file), "it is a container of version 3; this is made for version 2");
}

TEST(Container, SectionsThatOverlapAreRefused) {
  std::string file = small();
  constexpr size_t kFirstBegins = 64 + 8, kSecondBegins = kFirstBegins + 24;
  std::copy_n(file.begin() + kFirstBegins, 8, file.begin() + kSecondBegins);
  EXPECT_NE(refusal_of(file).find("sections overlap"), std::string::npos) << refusal_of(file);
}

TEST(Container, WhatStandsApartIsNotInTheChecksum) {
  const std::pair<SectionKind, std::string> sections[] = {
      {SectionKind::kData, std::string(100, 'x')}, {SectionKind::kNote, "a note"}, {SectionKind::kTexts, "text"}};
  const std::string file = to_container(sections, Apart::kData);
  const size_t data = file.find("xxx");
  for (size_t at = 0; at < file.size(); ++at) {
    std::string damaged = file;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    const bool apart = at >= data && at < data + 100;
    EXPECT_EQ(refusal_of(damaged).empty(), apart) << at;
  }
}

TEST(Digest, IsOfContentAndLength) {
  EXPECT_EQ(digest_of("abc"), digest_of("abc"));
  EXPECT_NE(digest_of("abc"), digest_of(std::string_view("abc\0", 4)));
  EXPECT_NE(digest_of(""), digest_of(std::string_view("\0", 1)));
  const std::string longer(1000, 'x');
  for (size_t at = 0; at < longer.size(); ++at) {
    std::string other = longer;
    other[at] = 'y';
    EXPECT_NE(digest_of(other), digest_of(longer)) << at;
  }
  EXPECT_EQ(digest_of("abc").text().size(), 32u);
}

TEST(Stream, NumbersComeBack) {
  ByteWriter out;
  const int64_t numbers[] = {0, 1, -1, 63, -64, 64, 127, 128, INT64_MAX, INT64_MIN};
  for (const int64_t number : numbers) out.number(number);
  out.count(UINT64_MAX);
  out.real(-0.0);
  out.text("text");
  ByteReader in(bytes_of(out.bytes()));
  for (const int64_t number : numbers) EXPECT_EQ(in.number(), number);
  EXPECT_EQ(in.count(), UINT64_MAX);
  EXPECT_TRUE(std::signbit(in.real()));
  EXPECT_EQ(in.text(), "text");
  EXPECT_TRUE(in.at_end());
  EXPECT_THROW(in.count(), Error);
  EXPECT_THROW(ByteReader(bytes_of("\x7f")).size(), Error) << "more than there are bytes";
  EXPECT_THROW(ByteReader(bytes_of("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff")).count(), Error);
}

}  // namespace
}  // namespace npu::graph::model
