// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/names/word.h"

#include <array>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace npu::migrate {

/// The words of one part of all hashes; parts are asked by several threads at once.
const Word::Kept* Word::keep(std::string_view text, size_t hash) {
  struct Shard {
    std::mutex mutex;
    std::unordered_map<std::string_view, std::unique_ptr<Kept>> words;
  };
  static constexpr size_t kShards = 64;
  static auto* const shards = new std::array<Shard, kShards>;  // lives as long as the process
  Shard& shard = (*shards)[hash / 7 % kShards];
  const std::scoped_lock lock(shard.mutex);
  if (const auto found = shard.words.find(text); found != shard.words.end()) return found->second.get();
  auto made = std::make_unique<Kept>(Kept{std::string(text), hash});
  const std::string_view key = made->text;
  return shard.words.emplace(key, std::move(made)).first->second.get();
}

Word::Word(std::string_view text) {
  constexpr size_t kRecent = 1024;
  static thread_local std::array<const Kept*, kRecent> recent{};  // files name a few words again and again
  const size_t hash = std::hash<std::string_view>()(text);
  const Kept*& place = recent[hash % kRecent];
  if (place == nullptr || place->hash != hash || place->text != text) place = keep(text, hash);
  kept_ = place;
}

}  // namespace npu::migrate
