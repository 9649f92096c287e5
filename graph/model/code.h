// SPDX-License-Identifier: Apache-2.0
// Codes of acl_error.h that only models have, beside those of base/error.h.
#pragma once

#include "base/error.h"

namespace npu::graph::model {

inline constexpr Code kDamagedModel{100012};       ///< it is no model of ours, or does not hold together
inline constexpr Code kNotDynamic{100019};         ///< the model has no gears of this kind
inline constexpr Code kOtherContext{107004};       ///< the model was loaded in another context
inline constexpr Code kNoModelFile{145002};        ///< the path names no file that can be read
inline constexpr Code kNoModelId{145003};          ///< there is no model of this number
inline constexpr Code kNoModelData{145006};        ///< the bytes of a model are none
inline constexpr Code kNoMemoryGiven{145007};      ///< memory that the client gave is missing, or too small
inline constexpr Code kWrongInputAddress{145011};  ///< an input or output has no device memory
inline constexpr Code kWrongInputLength{145012};   ///< its buffer has another size than the model wants
inline constexpr Code kWrongGear{145013};          ///< there is no gear of this size
inline constexpr Code kNoAipp{145015};             ///< the input has no AIPP whose parameters come with the run
inline constexpr Code kWrongShape{145021};         ///< the shape of an input does not fit the model

}  // namespace npu::graph::model
