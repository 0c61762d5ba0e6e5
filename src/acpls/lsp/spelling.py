"""How the editor spells the URIs of its documents, and how we do.

One file has many URIs: editors differ in what they percent-encode (``@``, ``[``, ``(``).
Inside there is one for each path, so that a file's open document is found by its path;
what goes to the editor has the spelling that came from it.
"""

from __future__ import annotations

from acpls.text import uris


class Spelling:
    """The editor's spelling of each document that it opened."""

    def __init__(self) -> None:
        self._theirs: dict[str, str] = {}

    def opened(self, uri: str) -> str:
        """The editor opened a document under this URI; ours comes back."""
        ours = self.ours(uri)
        self._theirs[ours] = uri
        return ours

    def ours(self, uri: str) -> str:
        """The URI that we have for the same file; of what is no file, the URI itself."""
        path = uris.to_path(uri)
        return uri if path is None else uris.from_path(path)

    def theirs(self, uri: str) -> str:
        """The editor's URI for one of ours."""
        return self._theirs.get(uri, uri)
