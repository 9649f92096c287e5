# SPDX-License-Identifier: Apache-2.0
"""Scripts of TensorFlow 1 in processes of their own: what disable_v2_behavior does to a process cannot be undone."""

import fresh

HEAD = """
import numpy as np
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()
tf.logging.set_verbosity(tf.logging.ERROR)
if os.environ.get("CONTROL_FLOW") == "v2":
    tf.enable_control_flow_v2()
    tf.enable_resource_variables()
"""


def run(folder, code, **environment):
    """Output and errors of a script, which must end well."""
    return fresh.run(folder, HEAD + code, limit=180, **environment)
