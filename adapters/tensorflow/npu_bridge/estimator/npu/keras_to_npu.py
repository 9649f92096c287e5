# SPDX-License-Identifier: Apache-2.0
"""Keras models as estimators on the NPU."""

import tensorflow as tf

from npu_bridge.estimator.npu.npu_estimator import NPUEstimator
from npu_bridge.estimator.npu.npu_session import npu_run_config_init

__all__ = ["model_to_npu_estimator"]


def model_to_npu_estimator(
    keras_model=None,
    keras_model_path=None,
    custom_objects=None,
    model_dir=None,
    checkpoint_format="saver",
    config=None,
    job_start_file="",
):
    """An NPUEstimator of a compiled Keras model, or of the file of one, with TensorFlow's conditions. `config` is an
    NPURunConfig or a RunConfig."""
    config = npu_run_config_init(config)
    # TensorFlow copies the model and keeps its first weights; what it makes of both is a model_fn and where to start.
    made = tf.compat.v1.keras.estimator.model_to_estimator(
        keras_model=keras_model,
        keras_model_path=keras_model_path,
        custom_objects=custom_objects,
        model_dir=model_dir,
        config=config,
        checkpoint_format=checkpoint_format,
    )
    return NPUEstimator(
        made._model_fn,
        made.model_dir,
        made.config,
        job_start_file=job_start_file,
        warm_start_from=made._warm_start_settings,
    )
