"""From untrusted bytes to typed values, or to every problem with its path. Imports nothing of this project."""
