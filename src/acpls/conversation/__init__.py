"""A session as a Markdown document: the renderer and the writer. Pure."""
