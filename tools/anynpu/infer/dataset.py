# SPDX-License-Identifier: Apache-2.0
"""Device memory of a run: the buffers of its inputs or outputs."""

from anynpu.infer.runtime import checked

TO_DEVICE, TO_HOST = 1, 2


class Dataset:
    """Buffers that keep their memory while it is large enough. A buffer of 0 bytes is left to the library."""

    def __init__(self, acl, sizes):
        self.acl = acl
        self.handle = acl.mdl.create_dataset()
        self.room = [0] * len(sizes)
        self.buffers = []
        for index, size in enumerate(sizes):
            self.buffers.append(acl.create_data_buffer(0, 0))
            checked("acl.mdl.add_dataset_buffer", acl.mdl.add_dataset_buffer(self.handle, self.buffers[-1]))
            self.reserve(index, size)

    def address(self, index):
        return self.acl.get_data_buffer_addr(self.buffers[index])

    def size(self, index):
        return self.acl.get_data_buffer_size_v2(self.buffers[index])

    def reserve(self, index, size):
        """Makes room for `size` bytes; the buffer then says that it has as many."""
        if size == 0:
            return
        address = self.address(index)
        if size > self.room[index]:
            if address:
                checked("acl.rt.free", self.acl.rt.free(address))
            address, self.room[index] = checked("acl.rt.malloc", self.acl.rt.malloc(size, 0)), size
        checked("acl.update_data_buffer", self.acl.update_data_buffer(self.buffers[index], address, size))

    def write(self, index, array):
        """Copies a contiguous array."""
        self.reserve(index, array.nbytes)
        pointer = self.acl.util.numpy_to_ptr(array)
        code = self.acl.rt.memcpy(self.address(index), array.nbytes, pointer, array.nbytes, TO_DEVICE)
        checked("acl.rt.memcpy", code)

    def read(self, index, array):
        pointer = self.acl.util.numpy_to_ptr(array)
        code = self.acl.rt.memcpy(pointer, array.nbytes, self.address(index), array.nbytes, TO_HOST)
        checked("acl.rt.memcpy", code)

    def give_back(self, index):
        """Frees memory that the library chose for an output."""
        address = self.address(index)
        if self.room[index] == 0 and address:
            checked("acl.rt.free", self.acl.rt.free(address))
            checked("acl.update_data_buffer", self.acl.update_data_buffer(self.buffers[index], 0, 0))

    def destroy(self):
        for buffer in self.buffers:
            if address := self.acl.get_data_buffer_addr(buffer):
                self.acl.rt.free(address)
            self.acl.destroy_data_buffer(buffer)
        self.buffers = []
        self.acl.mdl.destroy_dataset(self.handle)
