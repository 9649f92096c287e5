// SPDX-License-Identifier: Apache-2.0
// Damaged programs: whatever bytes come in, the tool ends; what it cannot change safely it leaves alone. The same
// programs in each run; ANYNPU_FUZZ_SECONDS of them where it is set.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <random>

#include "tools/migrate/migration/batch.h"
#include "tools/migrate/text/built_in.h"

namespace npu::migrate {
namespace {

constexpr size_t kPrograms = 10'000;

/// Every example of every rule, as seeds.
std::vector<std::string> seeds(const RuleBook& book) {
  std::vector<std::string> out;
  for (const Rule& rule : book.all())
    for (const Example& example : rule.examples) out.push_back(example.before);
  return out;
}

std::string damaged(std::string text, const std::vector<std::string>& all, std::mt19937& random) {
  const auto below = [&](size_t end) { return end == 0 ? 0 : random() % end; };
  for (size_t round = 1 + below(4); round > 0; --round) {
    const size_t at = below(text.size() + 1), length = below(std::min<size_t>(text.size() - at, 40) + 1);
    switch (below(6)) {
      case 0: text.insert(at, 1, "()[]{}:,.'\"\\\n\t =*@#;\x80\xE4\xFF"[below(24)]); break;
      case 1: text.erase(at, length); break;
      case 2: text.insert(at, text.substr(at, length)); break;
      case 3: text.resize(at); break;
      case 4: text.insert(at, all[below(all.size())].substr(0, 200)); break;
      default:
        if (at < text.size()) text[at] = static_cast<char>(1 + below(255));
    }
  }
  return text;
}

std::string quoted(const std::string& text) { return testing::PrintToString(text); }

TEST(Fuzz, DamagedPrograms) {
  const char* seconds = std::getenv("ANYNPU_FUZZ_SECONDS");
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds == nullptr ? 0 : std::atoi(seconds));
  const auto goes_on = [&](size_t count) {
    return seconds == nullptr ? count < kPrograms : std::chrono::steady_clock::now() < end;
  };
  RuleBook book;
  for (const std::string_view name : built_in_names())
    if (name.ends_with(".yaml")) book.read(std::string(name), built_in(name));
  const std::vector<std::string> all = seeds(book);
  Options options[2];
  options[0].features = {"tf2", "compat", "distributed"};
  options[1].features = {"torch", "distributed"};
  const RuleIndex rules[2] = {RuleIndex(book.active(options[0].features)), RuleIndex(book.active(options[1].features))};
  std::mt19937 random(5);
  for (size_t count = 0; goes_on(count); ++count) {
    const std::string text = damaged(all[random() % all.size()], all, random);
    const std::string other = damaged(all[random() % all.size()], all, random);
    const auto load = [&](const std::string& path) { return Source(path, path == "a.py" ? text : other); };
    Batch batch({"a.py", "b.py"}, load, rules[count % 2], options[count % 2]);
    batch.run(1, [&](FileResult&& file) {
      const std::string& before = file.path == "a.py" ? text : other;
      // The parser takes some texts that Python does not; a change that makes one worse is taken back.
      EXPECT_TRUE(file.failure.empty() || file.after == file.before || file.after.empty()) << quoted(before);
    });
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace npu::migrate
