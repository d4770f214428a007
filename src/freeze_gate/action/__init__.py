"""What only the GitHub Action does: from its inputs to its outputs."""
