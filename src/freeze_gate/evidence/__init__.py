"""From the bytes that two runs left to records that were checked. Pure: no network, no clock, no environment."""
