"""The bundle on disk: records, pins, and what is done with them without an HTTP client."""
