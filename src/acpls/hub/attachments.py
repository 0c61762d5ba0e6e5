"""What goes along with a prompt: blocks, selections, files.

A selection's text, its range and the document's version always belong together: all are
taken from the open document, unsaved changes included, in the moment of the command.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acpls.hub.state import CannotDo
from acpls.session import content as c
from acpls.text import uris
from acpls.text.lines import LineIndex

if TYPE_CHECKING:
    from collections.abc import Mapping

    from acpls.hub.state import State
    from acpls.session.asks import AgentFacts
    from acpls.text.buffers import Buffer


def prompt_blocks(state: State, arguments: Mapping[str, Any]) -> tuple[c.Block, ...]:
    """The blocks of a prompt: what is attached first, the user's words last."""
    attached = tuple(_attached(state, item) for item in arguments.get("context") or ())
    given = tuple(_block(item) for item in arguments.get("blocks") or ())
    text = arguments.get("text") or ""
    said = (c.Text(text),) if text.strip() else ()
    return (*attached, *given, *said) if (given or said) else ()


def _block(payload: Mapping[str, Any]) -> c.Block:
    """A block in ACP's shape, as the editor gave it."""
    match payload:
        case {"type": "text", "text": str(text)}:
            return c.Text(text)
        case {"type": "resource_link", "uri": str(uri), "name": str(name)}:
            title, mime = _text(payload, "title"), _text(payload, "mimeType")
            return c.ResourceLink(uri, name, title, mime)
        case {"type": "image" | "audio" as type_, "data": str(data), "mimeType": str(mime)}:
            return c.Media(type_, data, mime, _text(payload, "uri"))
        case _:
            message = "A block must be a text, resource_link, image or audio block of ACP"
            raise CannotDo(message, field="blocks")


def _text(payload: Mapping[str, Any], member: str) -> str | None:
    value = payload.get(member)
    if value is None or isinstance(value, str):
        return value
    message = f"The member {member} of a block must be a string"
    raise CannotDo(message, field="blocks")


def _attached(state: State, item: Mapping[str, Any]) -> c.Block:
    uri = item["uri"]
    buffer = state.buffers.get(uri)
    if buffer is None:
        return c.ResourceLink(uri, _name(uri))
    start, end, text = _selected(state, buffer, item.get("range"))
    where = uri if start is None else f"{uri}#L{start}-L{end}"
    return c.Resource(where, text=text, mime_type="text/plain")


def _selected(
    state: State, buffer: Buffer, range_: Mapping[str, Any] | None
) -> tuple[int | None, int | None, str]:
    """The selected text with its first and last line, one-based; all of it without a range."""
    if range_ is None:
        return None, None, buffer.text
    index = LineIndex(buffer.text)
    # Some editors give a selection that was made backwards as it was made.
    (line, at), (end_line, end_at) = sorted(
        (position["line"], position["character"]) for position in (range_["start"], range_["end"])
    )
    start = index.offset((line, at), state.buffers.encoding)
    end = index.offset((end_line, end_at), state.buffers.encoding)
    first = min(line + 1, index.line_count)
    last = min(end_line + (1 if end_at else 0), index.line_count)
    return first, max(first, last), buffer.text[start:end]


def quote(state: State, arguments: Mapping[str, Any]) -> str:
    """A selection as it is quoted in a conversation document, with its line endings."""
    uri, intent = arguments.get("uri"), arguments.get("intent")
    words = {"fix": "Fix this:\n", "explain": "Explain this:\n"}.get(intent or "", "")
    if uri is None:
        return ""
    buffer = state.buffers.get(uri)
    name = _place(state, uri)
    if buffer is None or arguments.get("range") is None:
        return f"{words}`{name}`\n\n"
    first, last, text = _selected(state, buffer, arguments["range"])
    if not text.strip():
        return f"{words}`{name}:{first}`\n\n"
    return f"{words}`{name}:{first}-{last}`\n\n{_fenced(text, buffer.language)}\n"


def _fenced(text: str, language: str = "") -> str:
    """A text as a code block, with a fence that it does not contain."""
    fence = "```"
    while fence in text:
        fence += "`"
    end = "" if text.endswith("\n") else "\n"
    return f"{fence}{language}\n{text}{end}{fence}\n"


def _name(uri: str) -> str:
    return _as_words((uris.to_path(uri) or uri).rsplit("/", 1)[-1])


def _place(state: State, uri: str) -> str:
    """Where a document is, from the innermost folder on that a session or the editor has."""
    path = uris.to_path(uri) or uri
    inside = [root for root in state.all_roots() if path.startswith(f"{root.rstrip('/')}/")]
    root = max(inside, key=len, default="")
    return _as_words(path.removeprefix(f"{root.rstrip('/')}/") if root else path)


def _as_words(path: str) -> str:
    # A file name need not be text; a prompt and a document have to be.
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def fitting(blocks: tuple[c.Block, ...], facts: AgentFacts | None) -> tuple[c.Block, ...]:
    """The same blocks for an agent that may not take resources with their contents: it gets
    these as text.
    """
    if facts is not None and facts.embedded_context:
        return blocks
    return tuple(_as_text(b) if isinstance(b, c.Resource) else b for b in blocks)


def _as_text(resource: c.Resource) -> c.Text:
    return c.Text(f"{resource.uri}:\n{_fenced(resource.text or '')}")
