"""How the demo agent takes a prompt apart: tokens, file names, the verb.

Invariant: no I/O.
"""

from __future__ import annotations

import re

_TOKEN = re.compile(r"`[^`]+`|\"[^\"]+\"|'[^']+'|\S+")
_FILLERS = {"a", "the", "new", "file", "module", "function", "to", "in", "for", "of", "please"}
_VERB_WITHIN = 5
"""Words in which the verb must stand, so that 'could you please explain x' is understood."""


def tokens(text: str) -> list[str]:
    """The words of a text without small words; quotes and backticks keep words together.

    Small words stay when there is nothing else: a file may be called ``a``.
    """
    found = _TOKEN.findall(text)
    return [one for one in found if one.casefold() not in _FILLERS] or found


def file_word(token: str) -> str:
    """The file that a token names: without quotes, end of sentence and line number."""
    if len(token) > 1 and token[0] == token[-1] and token[0] in "`\"'":
        token = token[1:-1]
    return re.sub(r"(?::\d+)*[.,;:!?]*\Z", "", token)


def verb(prompt: str, known: dict[str, str]) -> tuple[str, str] | None:
    """The first known verb among the first words, and what follows it.

    ``known`` gives for each word the verb that it stands for; a word may be a phrase.
    """
    phrases = sorted(known, key=len, reverse=True)
    pattern = "|".join(re.escape(phrase).replace(r"\ ", r"\s+") for phrase in phrases)
    found = re.match(
        rf"/?(?:\S+\s+){{0,{_VERB_WITHIN - 1}}}?({pattern})(?![\w/-]|\.\w)[.:,!?]*(?:\s+(.*))?\Z",
        prompt,
        re.IGNORECASE | re.DOTALL,
    )
    if not found:
        return None
    return known[" ".join(found[1].casefold().split())], (found[2] or "").strip()
