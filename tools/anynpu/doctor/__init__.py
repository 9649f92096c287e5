# SPDX-License-Identifier: Apache-2.0
"""What `anynpu doctor` checks and finds."""
