"""The command line, a module for each command: `configure(parser)` declares its arguments, `run(args, world)` does it.

`cli` imports only the module of the command that was asked for, so that `classify` never pays for an HTTP client.
"""
