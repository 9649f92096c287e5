# SPDX-License-Identifier: Apache-2.0
"""What commands print: columns, and a reader who leaves early."""
