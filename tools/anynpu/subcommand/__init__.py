# SPDX-License-Identifier: Apache-2.0
"""The commands after `anynpu`, a module each, which `anynpu.command` finds by its name."""
