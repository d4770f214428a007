"""Figures, each beside a reference from the same run: `script/bench`."""
