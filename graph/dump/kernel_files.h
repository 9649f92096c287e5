// SPDX-License-Identifier: Apache-2.0
// Files of what was compiled, for each plan of a function, in a folder kernel_meta. They bear the names that the vendor
// gives to files of its kernels, for here a plan is what is compiled:
//
//   <function>_<n>.o             the function after all passes, and those it calls (graph/model/container.h)
//   <function>_<n>.json          the steps of the plan: operators, tensors with dtypes and shapes, attributes
//   <function>_<n>.cce           the same to be read
//   <function>_<n>_loc.json      for each line of the .cce, the client's nodes that it comes from
//   <function>_<n>_compute.json  what fused nodes are made of
#pragma once

#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "graph/run/listener.h"

namespace npu::graph {

struct KernelFileKinds {
  bool container = false, description = false, text = false, places = false, fused = false;
};
/// Of words joined by commas: o, json, cce, loc, compute. Raises 161002 for another.
KernelFileKinds kernel_file_kinds(std::string_view words);

class KernelFiles final : public Listener {
 public:
  /// Writes to `folder`/kernel_meta, made when it is needed. What cannot be written is told once on stderr.
  KernelFiles(KernelFileKinds kinds, const std::filesystem::path& folder)
      : kinds_(kinds), folder_(folder / "kernel_meta") {}
  void planned(const PlanMade& made) override;

 private:
  void write(const std::string& name, const std::string& text);

  const KernelFileKinds kinds_;
  const std::filesystem::path folder_;
  std::mutex mutex_;
  std::map<std::string, int> plans_;  ///< by function
  bool told_ = false;
};

}  // namespace npu::graph
