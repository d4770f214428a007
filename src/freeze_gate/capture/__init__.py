"""The side that makes the evidence, inside the user's two jobs."""
