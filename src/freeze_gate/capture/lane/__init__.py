"""The lane: another machine that runs the oracle, reached through whatever carries standard input and output."""
