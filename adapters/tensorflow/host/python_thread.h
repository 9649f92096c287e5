// SPDX-License-Identifier: Apache-2.0
// Python code that a graph calls must not see what belongs to the caller's thread: while a tf.function runs, TensorFlow
// has stopped that thread's gradient tapes. TensorFlow itself runs such code on a thread of its pool; here it is one of
// as many as are needed, so that code waiting for a graph never blocks another.
#pragma once

#include <functional>

namespace npu::tensorflow {

/// Called on every such thread before its first work.
void set_thread_start(void (*start)());

/// Runs `work` on another thread and waits for it. Raises what it raises.
void run_on_python_thread(const std::function<void()>& work);

}  // namespace npu::tensorflow
