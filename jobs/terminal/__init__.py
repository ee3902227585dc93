"""Tables and lines that several commands print."""
