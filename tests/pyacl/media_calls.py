# SPDX-License-Identifier: Apache-2.0
"""acl.media: pictures in YUV 4:2:0, from JPEG and back, from PNG, and what is counted and looked up in them."""

import struct
import zlib

import numpy as np

import acl

TO_DEVICE, TO_HOST, NV12 = 1, 2, 1
WIDTH, HEIGHT = 128, 64
BYTES = WIDTH * HEIGHT * 3 // 2


def run(call, folder):
    if not call.has("media.dvpp_create_channel"):
        return
    settings(call)
    channel = call("media.dvpp_create_channel_desc")
    call.given("media.dvpp_set_channel_desc_mode", channel, 7)
    call("media.dvpp_create_channel", channel)
    call.given("media.dvpp_get_channel_desc_channel_id", channel)
    stream = call("rt.create_stream")
    scaled(call, channel, stream)
    batches(call, channel, stream)
    pictures(call, channel, stream)
    rarer(call, channel, stream)
    png(call, channel, stream)
    call("rt.destroy_stream", stream)
    call("media.dvpp_destroy_channel", channel)
    call("media.dvpp_destroy_channel_desc", channel)


def settings(call):
    """Objects that hold a few numbers: what is set is what is got."""
    area = call("media.dvpp_create_roi_config", 0, 31, 0, 31)
    call("media.dvpp_set_roi_config", area, 2, 33, 2, 33)
    for side in ("left", "right", "top", "bottom"):
        call(f"media.dvpp_set_roi_config_{side}", area, 2)
    call("media.dvpp_destroy_roi_config", area)
    for kind, what, value in (("resize", "interpolation", 1), ("jpege", "level", 90)):
        config = call(f"media.dvpp_create_{kind}_config")
        call(f"media.dvpp_set_{kind}_config_{what}", config, value)
        assert call(f"media.dvpp_get_{kind}_config_{what}", config) == value
        call(f"media.dvpp_destroy_{kind}_config", config)
    if call.has("media.dvpp_create_border_config"):
        border = call("media.dvpp_create_border_config")
        for what, value in (("border_type", 0), ("top", 2), ("bottom", 4), ("left", 2), ("right", 4)):
            call(f"media.dvpp_set_border_config_{what}", border, value)
            assert call(f"media.dvpp_get_border_config_{what}", border) == value
        call("media.dvpp_set_border_config_value", border, 0, 128.0)
        assert call("media.dvpp_get_border_config_value", border, 0) == 128.0
        call("media.dvpp_destroy_border_config", border)
    if call.has("media.dvpp_create_stream_desc"):
        desc = call("media.dvpp_create_stream_desc")
        for what, value in (("data", 4096), ("size", 64), ("format", 1), ("timestamp", 5), ("ret_code", 0), ("eos", 1)):
            call(f"media.dvpp_set_stream_desc_{what}", desc, value)
            assert call(f"media.dvpp_get_stream_desc_{what}", desc) == value
        call("media.dvpp_destroy_stream_desc", desc)


def picture(call, width=WIDTH, height=HEIGHT, content=None, desc=None):
    """(description, memory) of a picture, grey unless told."""
    size = width * height * 3 // 2
    memory = call("media.dvpp_malloc", size)
    content = np.full(size, 128, np.uint8) if content is None else content
    acl.rt.memcpy(memory, size, acl.util.numpy_to_ptr(content), size, TO_DEVICE)
    desc = desc or call("media.dvpp_create_pic_desc")
    told = {"data": memory, "size": size, "format": NV12, "width": width, "height": height,
            "width_stride": width, "height_stride": height, "ret_code": 0}  # fmt: skip
    for what, value in told.items():
        call(f"media.dvpp_set_pic_desc_{what}", desc, value)
        assert call(f"media.dvpp_get_pic_desc_{what}", desc) == value
    return desc, memory


def end(call, *pictures_of):
    for desc, memory in pictures_of:
        call("media.dvpp_destroy_pic_desc", desc)
        call("media.dvpp_free", memory)


def scaled(call, channel, stream):
    source, target = picture(call), picture(call, 64, 32)
    crop, paste = (call("media.dvpp_create_roi_config", 0, 63, 0, 31) for _ in range(2))
    resize = call("media.dvpp_create_resize_config")
    queued = {
        "resize": [resize], "crop": [crop], "crop_resize": [crop, resize], "crop_and_paste": [crop, paste],
        "crop_resize_paste": [crop, paste, resize], "convert_color": [],
    }  # fmt: skip
    for name, rest in queued.items():
        if call.has(f"media.dvpp_vpc_{name}_async"):
            to = picture(call) if name == "convert_color" else target
            call(f"media.dvpp_vpc_{name}_async", channel, source[0], to[0], *rest, stream)
            call("rt.synchronize_stream", stream)
            size = call("media.dvpp_get_pic_desc_size", to[0])
            assert set(acl.util.ptr_to_bytes(to[1], size)) == {128}
    end(call, source, target)


def batches(call, channel, stream):
    if not call.has("media.dvpp_vpc_batch_crop_async"):
        return
    sources, targets = (call("media.dvpp_create_batch_pic_desc", count) for count in (1, 2))
    picture(call, desc=call("media.dvpp_get_pic_desc", sources, 0))
    for index in range(2):
        picture(call, 64, 32, desc=call("media.dvpp_get_pic_desc", targets, index))
    crops = [call("media.dvpp_create_roi_config", 0, 63, 0, 31) for _ in range(2)]
    resize = call("media.dvpp_create_resize_config")
    for name, rest in (
        ("crop", []),
        ("crop_resize", [resize]),
        ("crop_and_paste", [crops]),
        ("crop_resize_paste", [crops, resize]),
    ):
        if call.has(f"media.dvpp_vpc_batch_{name}_async"):
            given = [channel, sources, [2], targets, crops, *rest, stream]
            assert call(f"media.dvpp_vpc_batch_{name}_async", *given) == targets
            call("rt.synchronize_stream", stream)
    call("media.dvpp_destroy_batch_pic_desc", sources)
    call("media.dvpp_destroy_batch_pic_desc", targets)


def pictures(call, channel, stream):
    """A grey picture to JPEG and back."""
    if not call.has("media.dvpp_jpeg_encode_async"):
        return
    source, config = picture(call), call("media.dvpp_create_jpege_config")
    room = call("media.dvpp_jpeg_predict_enc_size", source[0], config)
    memory, size = call("media.dvpp_malloc", room), np.array([room], np.uint32)
    pointer = acl.util.numpy_to_ptr(size)
    call("media.dvpp_jpeg_encode_async", channel, source[0], memory, pointer, config, stream)
    call("rt.synchronize_stream", stream)
    jpeg = acl.util.ptr_to_bytes(memory, int(size[0]))
    host = acl.util.bytes_to_ptr(jpeg)
    assert call("media.dvpp_jpeg_get_image_info", host, len(jpeg))[:2] == (WIDTH, HEIGHT)
    call.given("media.dvpp_jpeg_get_image_info_v2", host, len(jpeg))
    assert call("media.dvpp_jpeg_predict_dec_size", host, len(jpeg), NV12) >= BYTES
    target = picture(call)
    call("media.dvpp_jpeg_decode_async", channel, memory, len(jpeg), target[0], stream)
    call("rt.synchronize_stream", stream)
    decoded = np.frombuffer(acl.util.ptr_to_bytes(target[1], BYTES), np.uint8)
    assert np.abs(decoded.astype(int) - 128).max() <= 2
    end(call, source, target)


def rarer(call, channel, stream):
    """Counts of values, a table of values, half a picture, a border."""
    source, same, half = picture(call), picture(call), picture(call, WIDTH // 2, HEIGHT // 2)
    if call.has("media.dvpp_create_hist"):
        counts = call("media.dvpp_create_hist")
        call("media.dvpp_vpc_calc_hist_async", channel, source[0], counts, 0, stream)
        call("rt.synchronize_stream", stream)
        assert call("media.dvpp_get_hist_dims", counts) == 3 and call("media.dvpp_get_hist_ret_code", counts) == 0
        pointer, length = call("media.dvpp_get_hist_data", counts, 0)
        assert acl.util.ptr_to_numpy(pointer, (length,), 6)[128] == WIDTH * HEIGHT
        call("media.dvpp_clear_hist", counts)
        call("media.dvpp_destroy_hist", counts)
    if call.has("media.dvpp_create_lut_map"):
        values = call("media.dvpp_create_lut_map")
        assert call("media.dvpp_get_lut_map_dims", values) == 3
        pointer, length = call("media.dvpp_get_lut_map_data", values, 0)
        acl.util.ptr_to_numpy(pointer, (length,), 2)[128] = 7
        call("media.dvpp_vpc_equalize_hist_async", channel, source[0], same[0], values, stream)
        call("rt.synchronize_stream", stream)
        assert set(acl.util.ptr_to_bytes(same[1], WIDTH * HEIGHT)) == {7}
        call("media.dvpp_destroy_lut_map", values)
    if call.has("media.dvpp_vpc_pyr_down_async"):
        call("media.dvpp_vpc_pyr_down_async", channel, source[0], half[0], 0, stream)
        call("rt.synchronize_stream", stream)
        assert set(acl.util.ptr_to_bytes(half[1], BYTES // 4)) == {128}
    if call.has("media.dvpp_vpc_make_border_async"):
        border = call("media.dvpp_create_border_config")
        for side, pixels in (("left", 32), ("right", 32), ("top", 16), ("bottom", 16)):
            call(f"media.dvpp_set_border_config_{side}", border, pixels)
        call("media.dvpp_vpc_make_border_async", channel, half[0], same[0], border, stream)
        call("rt.synchronize_stream", stream)
        assert acl.util.ptr_to_bytes(same[1], BYTES)[WIDTH * 16 + 32] == 128
        call("media.dvpp_destroy_border_config", border)
    end(call, source, same, half)


def png_file(width, height, value):
    """A picture of one grey, in colours."""

    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    rows = zlib.compress((b"\0" + bytes([value]) * width * 3) * height)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def png(call, channel, stream):
    if not call.has("media.dvpp_png_decode_async"):
        return
    content, rgb = png_file(WIDTH, HEIGHT, 77), 12
    host, size = acl.util.bytes_to_ptr(content), len(content)
    assert call("media.dvpp_png_get_image_info", host, size) == (WIDTH, HEIGHT, 3)
    room = call("media.dvpp_png_predict_dec_size", host, size, rgb)
    memory, target = call("media.dvpp_malloc", size), call("media.dvpp_malloc", room)
    acl.rt.memcpy(memory, size, host, size, TO_DEVICE)
    desc = call("media.dvpp_create_pic_desc")
    told = {"data": target, "size": room, "format": rgb, "width": WIDTH, "height": HEIGHT}
    for what, value in told.items():
        call(f"media.dvpp_set_pic_desc_{what}", desc, value)
    call("media.dvpp_png_decode_async", channel, memory, size, desc, stream)
    call("rt.synchronize_stream", stream)
    assert acl.util.ptr_to_bytes(target, 3 * WIDTH)[:6] == bytes([77]) * 6
    end(call, (desc, target))
