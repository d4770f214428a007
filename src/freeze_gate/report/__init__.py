"""From a verdict to text: the four lines, the summary, the ticket. Pure."""
