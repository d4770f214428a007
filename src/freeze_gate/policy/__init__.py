"""What reviewers decided: the freezes, and the file that they stand in. Only reading the file needs YAML."""
