"""What the user answered with "always": a rule made from the one question that was answered.

Invariant: pure. Such a rule is about requests like that one and is never made wider; one that
was damaged in store is none.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, get_args

if TYPE_CHECKING:
    from collections.abc import Iterable

    from acpls.permissions.places import Places
    from acpls.permissions.request import Request

Scope: TypeAlias = Literal["session", "workspace", "user"]
SCOPES: Final[tuple[Scope, ...]] = get_args(Scope)
FORMAT: Final = 1

# Of these all files of the workspace are as good as the one that was asked about.
_BY_FOLDER: Final = frozenset({"read", "search", "edit"})
# Without their files or commands these could be anything.
_GRAVE: Final = frozenset({"execute", "edit", "delete", "move"})
_TEXT_LIMIT: Final = 300
_TEXTS: Final = ("kinds", "commands", "files", "folders", "roots")
_WORDS: Final = ("name", "title", "cwd", "digest", "session")


@dataclass(frozen=True, slots=True)
class Remembered:
    """``kinds``, ``name``, ``title``: those that a request must have; ``title`` where there is
    no name. ``commands``: its command lines, to be run in ``cwd`` (``None``: anywhere).
    ``files``: its files, and ``folders`` in which others may lie, by their real places.
    ``digest``: of the request, where nothing better tells what it was about. ``session`` and
    ``roots`` are what the scope means.
    """

    scope: Scope
    decision: Literal["allow", "deny"]
    agent: str
    kinds: tuple[str, ...] = ()
    name: str | None = None
    title: str | None = None
    commands: tuple[str, ...] = ()
    cwd: str | None = None
    files: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    digest: str | None = None
    session: str | None = None
    roots: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """What tells the rule from others, in each run of the server."""
        text = json.dumps(asdict(self), sort_keys=True)
        return f"p{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"

    @property
    def paths(self) -> tuple[str, ...]:
        """The files and folders, as globs."""
        return (*self.files, *(f"{folder}/**" for folder in self.folders))

    @property
    def text(self) -> str:
        """The rule in words, one line."""
        what = [*self.kinds, self.name or self.title, *self.commands, *self.paths]
        said = " ".join(" ".join(word for word in what if word).split())
        if len(said) > _TEXT_LIMIT:
            said = f"{said[:_TEXT_LIMIT]}…"
        once = " (this very request)" if self.digest else ""
        where = f" in {self.cwd}" if self.cwd and self.commands else ""
        return f"always {self.decision} {self.agent}: {said or 'a question'}{once}{where}"

    @property
    def brief(self) -> str:
        """What the rule is about before all else, as short as can be."""
        what = self.commands or self.paths or (self.name or self.title,)
        said = " ".join(" ".join(word for word in what if word).split())
        return said or " ".join(self.kinds) or "a question"

    def is_about(self, request: Request, places: Places) -> bool:
        """Whether a request is like the one that was answered."""
        alike = (
            self.agent == request.agent
            and self.kinds == tuple(sorted(request.kinds))
            and self.name == request.name
            and self.title in {None, request.title}
        )
        if not alike or self.digest is not None:
            return alike and self.digest == request.digest
        lines = tuple(command.line for command in request.commands)
        if lines != self.commands or not request.whole:
            return False
        if lines and self.cwd not in {None, request.cwd}:
            return False
        targets = _targets(request)
        real = {places.of(path) for path in targets}
        if not self.folders:
            return real == set(self.files)
        return bool(real) and all(
            place is not None and (place in self.files or _is_in(place, self.folders))
            for place in real
        )


def remember(
    decision: Literal["allow", "deny"],
    scope: Scope,
    request: Request,
    places: Places,
    *,
    session: str,
    roots: tuple[str, ...],
) -> Remembered | None:
    """The rule for requests like this one; ``None``: it cannot be told what it is about."""
    kinds = tuple(sorted(request.kinds))
    commands = tuple(command.line for command in request.commands)
    files: list[str] = []
    folders: list[str] = []
    for path in _targets(request):
        real = places.of(path)
        if real is None:
            return None
        inside = [root for root in places.real_roots if _is_in(real, (root,))]
        if decision == "allow" and not commands and set(kinds) <= _BY_FOLDER and inside:
            folders.append(max(inside, key=len))
        else:
            files.append(real)
    vague = not (commands or files or folders)
    tool = request.name or request.title
    unknown = vague and (not kinds or not tool or not _GRAVE.isdisjoint(kinds))
    return Remembered(
        scope,
        decision,
        request.agent,
        kinds,
        request.name,
        request.title if vague and request.name is None and not unknown else None,
        commands,
        request.cwd if commands and scope != "user" else None,
        tuple(sorted(set(files))),
        tuple(sorted(set(folders))),
        request.digest if unknown or not request.whole else None,
        session if scope == "session" else None,
        tuple(sorted(set(roots))) if scope == "workspace" else (),
    )


def dump(rule: Remembered) -> dict[str, Any]:
    """The rule as JSON."""
    whole = {key: value for key, value in asdict(rule).items() if value not in (None, ())}
    return {"format": FORMAT, **whole}


def load(value: Any) -> Remembered | None:
    """The rule that was dumped, or ``None`` where it is none that this version knows."""
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        return None
    fields = {key: value[key] for key in value if key != "format"}
    for key in _TEXTS:
        texts = fields.get(key, [])
        # Before they are stored these are tuples.
        if not isinstance(texts, list | tuple) or not all(isinstance(x, str) for x in texts):
            return None
        fields[key] = tuple(texts)
    words = [fields.get(key) for key in _WORDS]
    if not all(word is None or isinstance(word, str) for word in words):
        return None
    known = fields.keys() <= Remembered.__dataclass_fields__.keys()
    wanted = (fields.get("scope"), fields.get("decision"), fields.get("agent"))
    scope, decision, agent = wanted
    if not known or scope not in SCOPES or decision not in {"allow", "deny"}:
        return None
    return Remembered(**fields) if isinstance(agent, str) else None


def _targets(request: Request) -> tuple[str, ...]:
    """The files that have to be known. What a command does to others stands in its line."""
    return request.changed if request.commands else request.paths


def _is_in(place: str, folders: Iterable[str]) -> bool:
    return any(place == folder or place.startswith(f"{folder.rstrip('/')}/") for folder in folders)
