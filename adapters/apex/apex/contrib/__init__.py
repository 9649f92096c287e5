# SPDX-License-Identifier: Apache-2.0
"""Parts of Apex beside its core; of these, combine_tensors is here."""

from apex.unbuilt import refuse

__getattr__ = refuse(__name__, {})
