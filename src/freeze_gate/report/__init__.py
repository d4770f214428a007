"""From a verdict to text: the four lines, the outputs, the summary, the refresh ticket. Pure."""
