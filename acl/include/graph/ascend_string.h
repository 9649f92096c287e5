/* SPDX-License-Identifier: Apache-2.0 */
/* The text of the classes in namespace ge. */
#ifndef ANYNPU_GRAPH_ASCEND_STRING_H_
#define ANYNPU_GRAPH_ASCEND_STRING_H_

#include <memory>
#include <string>

#pragma GCC visibility push(default)

namespace ge {

/** Text that crosses library borders. */
class AscendString {
 public:
  AscendString() = default;
  /** A copy of `name`; null gives one that holds nothing. */
  AscendString(const char* name);  // NOLINT: texts are given where one is taken
  /** Null when it holds nothing. */
  const char* GetString() const;
  /** In the order of their bytes; one that holds nothing stands first. */
  bool operator<(const AscendString& other) const;
  bool operator==(const AscendString& other) const;

 private:
  std::shared_ptr<std::string> name_;
};

}  // namespace ge

#pragma GCC visibility pop

#endif /* ANYNPU_GRAPH_ASCEND_STRING_H_ */
