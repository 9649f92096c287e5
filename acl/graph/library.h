// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "acl/graph/operator_cache.h"
#include "acl/include/anynpu/graph.h"
#include "graph/dump/watched_library.h"
#include "graph/import/tensorflow/reader.h"

struct anynpu_library {
  anynpu_library(int device, npu::graph::Bytes op_list, npu::graph::HostNode host)
      : catalogue(op_list), library(device, std::move(host)) {}
  npu::graph::tensorflow::Catalogue catalogue;
  npu::graph::WatchedLibrary library;
  npu::acl::OperatorCache operators{library, catalogue};
};
