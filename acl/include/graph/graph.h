/* SPDX-License-Identifier: Apache-2.0 */
/* A graph of the classes in namespace ge. */
#ifndef ANYNPU_GRAPH_GRAPH_H_
#define ANYNPU_GRAPH_GRAPH_H_

#include <memory>

#include "graph/ascend_string.h"
#include "graph/ge_error_codes.h"

#pragma GCC visibility push(default)

namespace ge {

class GraphImpl;

/** A graph as it was parsed. Copies share it. */
class Graph {
 public:
  Graph() = default;
  explicit Graph(const char* name);
  /** Its implementation, for the functions below. */
  const std::shared_ptr<GraphImpl>& Impl() const { return impl_; }

 private:
  std::shared_ptr<GraphImpl> impl_;
};

}  // namespace ge

#pragma GCC visibility pop

#endif /* ANYNPU_GRAPH_GRAPH_H_ */
