/* SPDX-License-Identifier: Apache-2.0 */
/* Options of models that are built in memory. */
#ifndef ANYNPU_GE_GE_API_TYPES_H_
#define ANYNPU_GE_GE_API_TYPES_H_

#include <map>

#include "graph/ascend_string.h"

#pragma GCC visibility push(default)

namespace ge {

using Options = std::map<AscendString, AscendString>;

/** Keys of options; the values are those of atc's flags. */
namespace ir_option {
constexpr const char* INPUT_SHAPE = "input_shape";
constexpr const char* INPUT_FORMAT = "input_format";
constexpr const char* OUTPUT_TYPE = "output_type";
constexpr const char* DYNAMIC_BATCH_SIZE = "dynamic_batch_size";
constexpr const char* DYNAMIC_IMAGE_SIZE = "dynamic_image_size";
constexpr const char* DYNAMIC_DIMS = "dynamic_dims";
constexpr const char* INSERT_OP_FILE = "insert_op_conf";
constexpr const char* SOC_VERSION = "ge.socVersion";
constexpr const char* PRECISION_MODE = "ge.exec.precision_mode";
constexpr const char* OP_SELECT_IMPL_MODE = "ge.opSelectImplmode";
constexpr const char* OPTYPELIST_FOR_IMPLMODE = "ge.optypelistForImplmode";
}  // namespace ir_option

}  // namespace ge

#pragma GCC visibility pop

#endif /* ANYNPU_GE_GE_API_TYPES_H_ */
