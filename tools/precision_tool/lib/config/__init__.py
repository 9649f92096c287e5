# SPDX-License-Identifier: Apache-2.0
"""What users of the precision tool edit."""
