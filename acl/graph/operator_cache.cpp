// SPDX-License-Identifier: Apache-2.0
#include "acl/graph/operator_cache.h"

#include <fmt/format.h>

#include "graph/ir/node_error.h"
#include "graph/report/report.h"
#include "graph/run/executable.h"

namespace npu::acl {

OperatorCache::Entry OperatorCache::make(std::string key, graph::Bytes node_def,
                                         const std::vector<graph::ValueType>& types) {
  std::string name = fmt::format("operator {}", made_++);
  graph::Program program;
  program.add(graph::tensorflow::read_operator(node_def, name, types, catalogue_));
  library_.add(program);
  try {
    auto executable = library_.get(name, graph::Role::kOperator);
    return {std::move(key), std::move(name), std::move(executable)};
  } catch (graph::NodeError& e) {
    library_.remove(name);
    e.drop_outermost();  // the function that we made of the operator
    throw;
  } catch (...) {
    library_.remove(name);
    throw;
  }
}

std::shared_ptr<graph::Executable> OperatorCache::get(graph::Bytes node_def, const std::vector<graph::Value>& inputs) {
  std::vector<graph::ValueType> types;
  std::string key(node_def.data(), node_def.size());
  for (const graph::Value& value : inputs) {
    types.push_back(value.object ? graph::ValueType::resource() : graph::ValueType::tensor(value.tensor.dtype));
    key += fmt::format("|{}", static_cast<int>(types.back().dtype));
  }
  const std::lock_guard lock(mutex_);
  if (const auto at = found_.find(key); at != found_.end()) {
    entries_.splice(entries_.begin(), entries_, at->second);
    return at->second->executable;
  }
  entries_.push_front(make(std::move(key), node_def, types));
  found_[entries_.front().key] = entries_.begin();
  if (entries_.size() > kMost) {
    library_.remove(entries_.back().name);
    library_.report().forget(entries_.back().name);
    found_.erase(entries_.back().key);
    entries_.pop_back();
  }
  return entries_.front().executable;
}

}  // namespace npu::acl
