# SPDX-License-Identifier: Apache-2.0
"""Steps of fused optimizers under torch's gradient scaler. Such an optimizer is handed the scale and the mark of
infinite gradients, which torch-npu's kernel of fused AdamW ignores: it would step with scaled, or infinite, gradients.
On the NPU the scaler therefore unscales the gradients and leaves out steps itself, as for other optimizers."""

import functools
import sys


def begin():
    """torch_npu has imported torch."""
    scaler = getattr(sys.modules.get("torch.amp.grad_scaler"), "GradScaler", None)
    if scaler is None:
        return
    step = scaler.step

    @functools.wraps(step)
    def unscaled(self, optimizer, *arguments, **named):
        if self._device != "npu" or not getattr(optimizer, "_step_supports_amp_scaling", False):
            return step(self, optimizer, *arguments, **named)
        optimizer._step_supports_amp_scaling = False
        try:
            return step(self, optimizer, *arguments, **named)
        finally:
            optimizer._step_supports_amp_scaling = True

    scaler.step = unscaled
