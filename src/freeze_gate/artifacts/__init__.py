"""From the names that a user gives to what the two runs show: list, choose, download, verify, read."""
