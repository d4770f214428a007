"""The oracle: the user's property test, run on the pinned file in a sandbox and recorded."""
