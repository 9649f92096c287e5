# SPDX-License-Identifier: Apache-2.0
"""What users set, by options, calls and environment variables, and what becomes of it."""
