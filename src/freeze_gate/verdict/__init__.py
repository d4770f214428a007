"""From verified records to a class, a reason and an exit code. Pure: no network, no clock, no environment."""
