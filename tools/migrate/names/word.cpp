// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/names/word.h"

#include <array>
#include <functional>
#include <mutex>
#include <unordered_set>

namespace npu::migrate {

/// The words of one part of all hashes; parts are asked by several threads at once.
const Word::Kept* Word::keep(std::string_view text, size_t hash) {
  struct Asked {
    std::string_view text;
    size_t hash;
  };
  struct Hash {
    using is_transparent = void;
    size_t operator()(const Kept& kept) const noexcept { return kept.hash; }
    size_t operator()(const Asked& asked) const noexcept { return asked.hash; }
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(const Kept& a, const Kept& b) const { return a.hash == b.hash && a.text == b.text; }
    bool operator()(const Asked& a, const Kept& b) const { return a.hash == b.hash && a.text == b.text; }
    bool operator()(const Kept& a, const Asked& b) const { return a.hash == b.hash && a.text == b.text; }
  };
  struct Shard {
    std::mutex mutex;
    std::unordered_set<Kept, Hash, Equal> words;  // which stay where they are
  };
  static constexpr size_t kShards = 64;
  static auto* const shards = new std::array<Shard, kShards>;  // lives as long as the process
  Shard& shard = (*shards)[hash / 7 % kShards];
  const std::scoped_lock lock(shard.mutex);
  const auto found = shard.words.find(Asked{text, hash});
  return found != shard.words.end() ? &*found : &*shard.words.insert(Kept{std::string(text), hash}).first;
}

Word::Word(std::string_view text) {
  constexpr size_t kRecent = 4096;
  static thread_local std::array<const Kept*, kRecent> recent{};  // files name a few words again and again
  const size_t hash = std::hash<std::string_view>()(text);
  const Kept*& place = recent[hash % kRecent];
  if (place == nullptr || place->hash != hash || place->text != text) place = keep(text, hash);
  kept_ = place;
}

}  // namespace npu::migrate
