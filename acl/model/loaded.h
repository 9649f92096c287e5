// SPDX-License-Identifier: Apache-2.0
// Models of files that were loaded, by number.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "graph/dump/watched_library.h"
#include "graph/model/model_file.h"
#include "graph/run/executable.h"

namespace npu::acl {

/// What a model is to its clients, and the gear that was chosen last.
struct ModelFacts {
  graph::model::Model model;       ///< without its functions
  std::atomic<int64_t> gear = -1;  ///< position in model.gears; -1: none yet
  bool has_gears() const { return model.gear_kind != graph::model::GearKind::kNone; }
  /// Of the client: one more than the model has where it has gears.
  size_t inputs() const { return model.inputs.size() + (has_gears() ? 1 : 0); }
};

class LoadedModel {
 public:
  /// Takes the functions out of `model`.
  LoadedModel(graph::model::Model model, void* context, int device);

  const std::shared_ptr<ModelFacts>& facts() const { return facts_; }
  graph::Executable& executable() const { return *executable_; }
  int device() const { return device_; }
  uint32_t id() const { return id_; }
  /// Raises 107004 unless the current context is the one it was loaded in.
  void check_context() const;

  /// A run, queued or not, until the object ends.
  class Use {
   public:
    explicit Use(std::shared_ptr<LoadedModel> model);
    ~Use();
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    LoadedModel& model() const { return *model_; }

   private:
    const std::shared_ptr<LoadedModel> model_;
  };
  void wait_until_unused();

 private:
  friend class ModelTable;
  uint32_t id_ = 0;
  void* const context_;
  const int device_;
  const std::shared_ptr<ModelFacts> facts_;
  graph::WatchedLibrary library_;
  std::shared_ptr<graph::Executable> executable_;
  std::mutex mutex_;
  std::condition_variable unused_;
  size_t uses_ = 0;
};

/// Loads into the current context; the number by which it is found.
uint32_t add_model(graph::model::Model model);
/// Raises 145003.
std::shared_ptr<LoadedModel> find_model(uint32_t id);
/// Forgets it, once nobody uses it. Raises 145003, 107003 from a task of a stream.
void unload_model(uint32_t id);

/// The bytes of a model, at a multiple of 64, and who keeps them.
struct ModelBytes {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> keeper;
};
/// Maps a file. Raises 145002.
ModelBytes open_model(const char* path);
/// Copies bytes of the client's. Raises 145006.
ModelBytes copy_model(const void* model, size_t size);

}  // namespace npu::acl
