# SPDX-License-Identifier: MIT
"""gputap and PyTorch. Under `gputap run` nothing of this must be imported: torch loads the observer
of its operators itself (entry point torch.backends)."""
