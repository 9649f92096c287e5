// SPDX-License-Identifier: Apache-2.0
// Damaged messages: recorded training steps with fields dropped, doubled, swapped, overwritten and cut off. Each is
// refused with an Error, or read, verified, rewritten and run. Round n is the same every time; ANYNPU_FUZZ_SECONDS
// makes more of them than the few of a usual run, ANYNPU_FUZZ_FIRST starts at a later one.
#include <chrono>
#include <cstdlib>
#include <protozero/pbf_reader.hpp>

#include "graph/import/tensorflow/recorded_fixture.h"
#include "graph/ir/control_flow.h"
#include "graph/run/executable.h"
#include "graph/run/library.h"

namespace npu::graph::tensorflow {
namespace {

using Random = std::mt19937_64;

size_t below(Random& random, size_t n) { return n == 0 ? 0 : random() % n; }

/// A message's fields as their bytes, tags included; empty when it is none.
std::vector<std::string> fields_of(const std::string& bytes) {
  std::vector<std::string> out;
  try {
    protozero::pbf_reader reader(bytes);
    for (size_t start = 0; reader.next(); start = bytes.size() - reader.length()) {
      reader.skip();
      out.push_back(bytes.substr(start, bytes.size() - reader.length() - start));
    }
  } catch (const protozero::exception&) {
    out.clear();
  }
  return out;
}

std::string varint(uint64_t value) {
  std::string out;
  for (; value >= 128; value >>= 7) out += static_cast<char>(value | 128);
  return out + static_cast<char>(value);
}

std::string damaged(Random& random, std::string bytes);

/// A field with something else in it.
std::string damaged_field(Random& random, const std::string& field) {
  protozero::pbf_reader reader(field);
  reader.next();
  const std::string tag = varint(uint64_t{reader.tag()} << 3 | static_cast<uint64_t>(reader.wire_type()));
  if (reader.wire_type() == protozero::pbf_wire_type::varint) {
    const uint64_t values[] = {0, 1, 2, 3, 9, 10, 19, 20, 255, 1ull << 31, 1ull << 62, ~0ull, random()};
    return tag + varint(values[below(random, std::size(values))]);
  }
  if (reader.wire_type() != protozero::pbf_wire_type::length_delimited) return field;
  const std::string inside = damaged(random, reader.get_string());
  return tag + varint(inside.size()) + inside;
}

std::string damaged_bytes(Random& random, std::string bytes) {
  if (bytes.empty() || below(random, 4) == 0) return bytes.substr(0, below(random, bytes.size() + 1));
  for (size_t n = 1 + below(random, 3); n > 0; --n) bytes[below(random, bytes.size())] = static_cast<char>(random());
  return bytes;
}

/// One change somewhere in the tree of messages.
std::string damaged(Random& random, std::string bytes) {
  std::vector<std::string> fields = fields_of(bytes);
  if (fields.empty() || below(random, 20) == 0) return damaged_bytes(random, std::move(bytes));
  const size_t at = below(random, fields.size()), other = below(random, fields.size());
  switch (below(random, 12)) {
    case 0: fields[at].clear(); break;
    case 1: fields[at] += fields[other]; break;
    case 2: std::swap(fields[at], fields[other]); break;
    default: fields[at] = damaged_field(random, fields[at]);
  }
  std::string out;
  for (const std::string& field : fields) out += field;
  return out;
}

bool loops(const Program& program) {
  for (const auto& [name, function] : program.functions)
    for (const Node& node : function->nodes)
      if (const auto call = as_call(node); call && call->kind == Kind::kWhile) return true;
  return false;
}

/// A damaged loop may never end, so those are compiled and not run.
void read_and_run(const std::string& model, const std::string& bytes) {
  RecordedFeed feed(model);
  Program program;
  read_graph(bytes, "outer", recorded_operators(), program);
  Library library(0, [&](const Node& node, std::span<const Value>) { return feed.next(node); });
  library.add(program);
  for (const auto& [name, function] : program.functions) library.get(name);
  if (const std::string step = step_of(program); !step.empty() && !loops(program))
    library.get(step)->run(feed.arguments());
}

int number(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::atoi(text);
}

TEST(Fuzz, DamagedMessagesAreRefusedOrRun) {
  const std::chrono::seconds limit(number("ANYNPU_FUZZ_SECONDS", 0));
  const auto end = std::chrono::steady_clock::now() + limit;
  std::vector<std::string> whole;
  for (const char* model : kRecorded) whole.push_back(recorded_file(std::string(model) + ".pb"));
  size_t refused = 0, ran = 0;
  const auto first = static_cast<size_t>(number("ANYNPU_FUZZ_FIRST", 0));
  for (size_t round = first; round < first + 150 || std::chrono::steady_clock::now() < end; ++round) {
    if (limit.count() > 0 && round % 250 == 0) std::cerr << "round " << round << std::endl;
    Random random(round);
    const size_t which = round % whole.size();
    std::string bytes = whole[which];
    for (size_t n = 1 + below(random, 4); n > 0; --n) bytes = damaged(random, std::move(bytes));
    try {
      read_and_run(kRecorded[which], bytes);
      ++ran;
    } catch (const Error& e) {
      EXPECT_FALSE(e.message().empty());
      ++refused;
    } catch (const std::exception& e) {
      ADD_FAILURE() << "round " << round << ": " << e.what();
    }
  }
  EXPECT_GT(refused, 10u);
  EXPECT_GT(ran, 10u);
}

}  // namespace
}  // namespace npu::graph::tensorflow
