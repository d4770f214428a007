"""The sandbox of an oracle: processes, namespaces and mounts. Linux only."""
