// SPDX-License-Identifier: Apache-2.0
// Functions of the table that words cannot spell: each is named after its line, `rt.launch_callback` is
// rt_launch_callback.
#pragma once

#include "adapters/pyacl/core/function.h"

namespace npu::pyacl::special {

using Arguments = PyObject* const*;

// text.cpp
PyObject* app_log(const Function& function, Arguments arguments, Py_ssize_t given);
PyObject* get_compileopt(const Function& function, Arguments arguments, Py_ssize_t given);
// callback.cpp
PyObject* rt_launch_callback(const Function& function, Arguments arguments, Py_ssize_t given);
PyObject* rt_launch_host_func(const Function& function, Arguments arguments, Py_ssize_t given);
PyObject* rt_set_exception_info_callback(const Function& function, Arguments arguments, Py_ssize_t given);
// thread.cpp
PyObject* util_start_thread(const Function& function, Arguments arguments, Py_ssize_t given);
PyObject* util_stop_thread(const Function& function, Arguments arguments, Py_ssize_t given);
// memory.cpp
PyObject* util_numpy_to_ptr(const Function& function, Arguments arguments, Py_ssize_t given);
PyObject* util_numpy_contiguous_to_ptr(const Function& function, Arguments arguments, Py_ssize_t given);
PyObject* util_ptr_to_numpy(const Function& function, Arguments arguments, Py_ssize_t given);
PyObject* util_bytes_to_ptr(const Function& function, Arguments arguments, Py_ssize_t given);
PyObject* util_ptr_to_bytes(const Function& function, Arguments arguments, Py_ssize_t given);
// model.cpp
PyObject* mdl_set_config_opt(const Function& function, Arguments arguments, Py_ssize_t given);
PyObject* mdl_set_exec_config_opt(const Function& function, Arguments arguments, Py_ssize_t given);
PyObject* mdl_get_first_aipp_info(const Function& function, Arguments arguments, Py_ssize_t given);
PyObject* mdl_create_and_get_op_desc(const Function& function, Arguments arguments, Py_ssize_t given);
// operator.cpp
PyObject* set_tensor_shape_range(const Function& function, Arguments arguments, Py_ssize_t given);
PyObject* op_set_attr_list_list_int(const Function& function, Arguments arguments, Py_ssize_t given);
// picture.cpp
PyObject* media_dvpp_vpc_batch_crop_async(const Function& function, Arguments arguments, Py_ssize_t given);
PyObject* media_dvpp_vpc_batch_crop_resize_async(const Function& function, Arguments arguments, Py_ssize_t given);
PyObject* media_dvpp_vpc_batch_crop_and_paste_async(const Function& function, Arguments arguments, Py_ssize_t given);
PyObject* media_dvpp_vpc_batch_crop_resize_paste_async(const Function& function, Arguments arguments, Py_ssize_t given);

}  // namespace npu::pyacl::special
