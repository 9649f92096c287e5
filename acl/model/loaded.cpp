// SPDX-License-Identifier: Apache-2.0
#include "acl/model/loaded.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <new>
#include <utility>

#include "acl/call.h"
#include "device/context/context.h"
#include "device/queue/stream.h"
#include "graph/cache/key.h"
#include "graph/dump/record/mapped_file.h"
#include "graph/model/code.h"

namespace npu::acl {

namespace {

using graph::model::Model;

constexpr size_t kAlignment = 64;

std::shared_ptr<ModelFacts> facts_of(Model model) {
  auto facts = std::make_shared<ModelFacts>();
  model.original = model.compiled = {};
  facts->model = std::move(model);
  return facts;
}

/// Dumps, profiles and texts call a model as atc did, by its file, and not as the framework called its graph. The
/// functions are this model's own: nobody else has read them.
void call_by_its_name(Model& model) {
  graph::Program* programs[] = {&model.original, &model.compiled};
  const auto taken = [&](const graph::Program* program) { return program->functions.contains(model.name); };
  if (model.name.empty() || std::ranges::any_of(programs, taken)) return;
  for (graph::Program* program : programs) {
    auto root = program->functions.extract(model.function);
    if (root.empty()) continue;
    root.key() = root.mapped()->name = model.name;
    program->functions.insert(std::move(root));
  }
  model.function = model.name;
}

/// What the passes of this very build made is taken as it is; that of another build is made anew.
void add_functions(graph::Library& library, const Model& model) {
  const auto compiler = model.facts.find("compiler");
  if (compiler != model.facts.end() && compiler->second == graph::cache::build())
    return library.add_rewritten(model.compiled);
  library.switch_off(model.passes_off);
  for (const auto& [option, value] : model.precision) library.set_precision(option, value);
  library.add(model.original);
}

}  // namespace

LoadedModel::LoadedModel(Model model, void* context, int device)
    : context_(context), device_(device), facts_(facts_of(model)), library_(device) {
  call_by_its_name(model);
  add_functions(library_, model);
  executable_ = library_.get(model.function, graph::Role::kRoot);
}

void LoadedModel::check_context() const {
  if (device::current_context().handle != context_)
    fail(graph::model::kOtherContext,
         "model {} was loaded in another context than the current one; make that one current (aclrtSetCurrentContext) "
         "before the model is executed or unloaded, or load it again if that context is gone (aclrtResetDevice)",
         id_);
}

LoadedModel::Use::Use(std::shared_ptr<LoadedModel> model) : model_(std::move(model)) {
  const std::lock_guard lock(model_->mutex_);
  ++model_->uses_;
}

LoadedModel::Use::~Use() {
  const std::lock_guard lock(model_->mutex_);
  if (--model_->uses_ == 0) model_->unused_.notify_all();
}

void LoadedModel::wait_until_unused() {
  std::unique_lock lock(mutex_);
  unused_.wait(lock, [&] { return uses_ == 0; });
}

/// Never destroyed, as all that lives as long as the process.
class ModelTable {
 public:
  static ModelTable& get() {
    static ModelTable& table = *new ModelTable;
    return table;
  }

  uint32_t add(std::shared_ptr<LoadedModel> model) {
    const std::lock_guard lock(mutex_);
    model->id_ = ++last_;
    models_.emplace(last_, std::move(model));
    return last_;
  }

  std::shared_ptr<LoadedModel> find(uint32_t id) const {
    const std::lock_guard lock(mutex_);
    const auto at = models_.find(id);
    if (at == models_.end())
      fail(graph::model::kNoModelId, "there is no model {}: it was never loaded, or is unloaded; {} are loaded", id,
           models_.size());
    return at->second;
  }

  void remove(uint32_t id) {
    const std::lock_guard lock(mutex_);
    models_.erase(id);
  }

 private:
  mutable std::mutex mutex_;
  std::map<uint32_t, std::shared_ptr<LoadedModel>> models_;
  uint32_t last_ = 0;
};

uint32_t add_model(Model model) {
  const device::Context& context = device::current_context();
  return ModelTable::get().add(std::make_shared<LoadedModel>(std::move(model), context.handle, context.device));
}

std::shared_ptr<LoadedModel> find_model(uint32_t id) { return ModelTable::get().find(id); }

void unload_model(uint32_t id) {
  const std::shared_ptr<LoadedModel> model = find_model(id);
  model->check_context();
  if (device::Stream::running() != nullptr)
    fail(Code::kRtStreamContext,
         "model {} is unloaded from a task of a stream, which its own runs may wait for; unload it in a thread of the "
         "program",
         id);
  ModelTable::get().remove(id);
  model->wait_until_unused();
}

ModelBytes open_model(const char* path) {
  given(path, "modelPath");
  try {
    auto file = std::make_shared<graph::record::MappedFile>(path);
    return {file->bytes(), file};
  } catch (const Error& e) {
    fail(graph::model::kNoModelFile, "{}; name a model file that atc wrote (--output=NAME gives NAME.om)", e.message());
  }
}

ModelBytes copy_model(const void* model, size_t size) {
  given(model, "model");
  if (size == 0) fail(graph::model::kNoModelData, "modelSize is 0; pass the bytes of a model file");
  const auto free = [](std::byte* bytes) { ::operator delete[](bytes, std::align_val_t(kAlignment)); };
  const std::shared_ptr<std::byte> bytes(static_cast<std::byte*>(::operator new[](size, std::align_val_t(kAlignment))),
                                         free);
  std::memcpy(bytes.get(), model, size);
  return {{bytes.get(), size}, bytes};
}

}  // namespace npu::acl
