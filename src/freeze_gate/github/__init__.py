"""The REST API of GitHub. Effects only: nothing here knows what a verdict is."""
