"""Tables and verdicts as text: terminal, Markdown, CSV, LaTeX."""
