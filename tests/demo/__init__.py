"""The four classes and a freeze, from a sampler to the summary, with the real commands against the stand-in."""
