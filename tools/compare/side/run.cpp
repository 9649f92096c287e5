// SPDX-License-Identifier: Apache-2.0
#include "tools/compare/side/run.h"

#include <fmt/ranges.h>

#include "base/error.h"
#include "tools/compare/exit/refusal.h"
#include "tools/compare/side/torch_file.h"
#include "tools/compare/tensor/npy.h"

namespace npu::compare {

std::string Operator::types() const { return fmt::format("{} {}", type, fmt::join(original_types, " ")); }

void Run::add(Operator op) {
  by_name.try_emplace(op.name, operators.size());
  operators.push_back(std::move(op));
}

const Operator* Run::find(std::string_view name) const {
  const auto at = by_name.find(name);
  return at == by_name.end() ? nullptr : &operators[at->second];
}

Elements::Elements(const Port& port) {
  const Source& source = *port.source;
  try {
    if (source.path.ends_with(".npy")) {
      file_.emplace(source.path);
      tensor_ = parse_npy(file_->bytes(), source.path);
    } else if (source.path.ends_with(".pt")) {
      file_.emplace(source.path);
      tensor_ = {{}, torch_elements(file_->bytes(), source.path)};
      tensor_.facts.data_type = port.type, tensor_.facts.format = 2, tensor_.facts.shape = port.shape;
      tensor_.facts.size = tensor_.bytes.size();
    } else {
      dump_.emplace(source.path);
      const auto& facts = source.input ? dump_->data().inputs : dump_->data().outputs;
      const auto& blobs = source.input ? dump_->blobs().inputs : dump_->blobs().outputs;
      tensor_ = {facts.at(source.index), blobs.at(source.index)};
    }
  } catch (const Error& reason) {
    throw Refusal(Exit::kDamaged, reason.message());
  }
}

}  // namespace npu::compare
