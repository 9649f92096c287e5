# SPDX-License-Identifier: Apache-2.0
"""A Horovod script as the vendor's guide to TensorFlow 2.6 migrates it by hand (its section 6.9.5), in small."""

import npu_device as npu
import numpy as np
import tensorflow as tf
from npu_device.compat.v1.npu_init import *

(npu_sess, npu_shutdown) = init_resource()
npu.compat.enable_v1()

config = tf.compat.v1.ConfigProto()
config.gpu_options.visible_device_list = str(get_npu_local_rank_id())
rng = np.random.RandomState(1)
labels = rng.randint(0, 3, 96).astype("int32")
images = (0.3 * rng.randn(96, 12) + np.repeat(np.eye(3), 4, 1)[labels]).astype("float32")
dataset = tf.data.Dataset.from_tensor_slices((images, labels)).repeat(4).batch(16, drop_remainder=True)
features, wanted = tf.compat.v1.data.make_one_shot_iterator(dataset).get_next()
logits = tf.compat.v1.layers.dense(tf.compat.v1.layers.dense(features, 32, tf.nn.relu), 3)
loss = tf.compat.v1.losses.sparse_softmax_cross_entropy(wanted, logits)
opt = tf.compat.v1.train.AdagradOptimizer(0.1 * get_npu_rank_size())
opt = npu_distributed_optimizer_wrapper(opt)
hooks = [NPUBroadcastGlobalVariablesHook(0, int(os.getenv("RANK_ID", "0")))]
train_op = opt.minimize(loss, tf.compat.v1.train.get_or_create_global_step())
checkpoint_dir = "train_logs" if get_npu_rank_id() == 0 else None
with tf.compat.v1.train.MonitoredTrainingSession(checkpoint_dir=checkpoint_dir, config=config, hooks=hooks) as mon_sess:
    while not mon_sess.should_stop():
        print("loss", mon_sess.run([train_op, loss])[1])
shutdown_resource(npu_sess, npu_shutdown)
close_session(npu_sess)
