# SPDX-License-Identifier: Apache-2.0
"""A task as the door shows it, with its tensors as arrays."""

import ctypes
import json

from anynpu.self_check.element import decoded


class Task:
    def __init__(self, raw):
        self.raw = raw  # the door's, while it is shown
        self.text = json.loads(raw.text.decode())
        self.blobs = [ctypes.string_at(raw.blobs[i], raw.sizes[i]) for i in range(raw.blob_count)]

    def __getattr__(self, name):
        return self.text[name]

    def array(self, index, side):
        tensor = self.tensors[index]
        return decoded(self.blobs[tensor[side]], tensor["dtype"], tensor["shape"])

    @property
    def called(self):
        """The operators of ours that it ran."""
        return [call["op"] for call in self.calls]
