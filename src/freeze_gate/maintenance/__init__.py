"""What teams do with files on disk: validate them (`check`), and remove old pins (`prune`)."""
