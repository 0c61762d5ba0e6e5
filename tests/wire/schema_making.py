"""Values made after the published schemas: small ones, large ones, and whatever comes to mind.

One maker goes through a form and leaves every choice to a ``Chooser``. It notes where in
the value what was made of which schema, so that a test can break a place and knows whether
that may be noticed.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from hypothesis import strategies as st
from schema_forms import ANY, META, ON_ERROR, SKIPS, UNKNOWN, Form, Json, forms, marks

if TYPE_CHECKING:
    from collections.abc import Sequence

T = TypeVar("T")
Path = tuple[str | int, ...]

NEW_WORD: Final = "_new"
# As many turns as the largest union inside of a message has kinds.
TURNS: Final = range(8)

# Where a text is a path; with us all of them are absolute.
PATHS: Final = frozenset({"path", "oldPath", "cwd", "additionalDirectories"})
# Where a text may well be empty; an id or a path that is empty names nothing.
FREE: Final = frozenset({"text", "content", "title", "description", "newText", "oldText"})


class Chooser(Protocol):
    """Makes the choices that a schema leaves."""

    def among(self, items: Sequence[T]) -> T: ...
    def wants(self, field: str) -> bool: ...
    def length(self, least: int) -> int: ...
    def text(self) -> str: ...
    def integer(self, least: int, most: int) -> int: ...
    def value(self) -> Any: ...


class Least:
    """The smallest value."""

    def among(self, items: Sequence[T]) -> T:
        return items[0]

    def wants(self, field: str) -> bool:
        return False

    def length(self, least: int) -> int:
        return least

    def text(self) -> str:
        return "a"

    def integer(self, least: int, most: int) -> int:
        return least

    def value(self) -> Any:
        return 0


class Most(Least):
    """A value with every field that it can have, and other words than the smallest one.

    ``turn``: which of several kinds is taken, everywhere in the value.
    """

    def __init__(self, turn: int = 0) -> None:
        self._turn = turn

    def among(self, items: Sequence[T]) -> T:
        nothing = [x for x in items if x is False or (isinstance(x, Form) and x.kind == "null")]
        something = [x for x in items if x not in nothing] or items
        return something[self._turn % len(something)]

    def wants(self, field: str) -> bool:
        return field != META

    def length(self, least: int) -> int:
        return max(least, 1)

    def text(self) -> str:
        return "b"

    def integer(self, least: int, most: int) -> int:
        return min(least + 1, most)

    def value(self) -> Any:
        return {"any": [1, None]}


class Drawn:
    """Whatever hypothesis wants to try."""

    TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=4)
    VALUES: st.SearchStrategy[Any] = st.sampled_from([None, 0, 1.5, "v", True, [], {}, {"k": [1]}])

    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw

    def among(self, items: Sequence[T]) -> T:
        return items[0] if len(items) == 1 else self._draw(st.sampled_from(items))

    def wants(self, field: str) -> bool:
        return self._draw(st.booleans())

    def length(self, least: int) -> int:
        return self._draw(st.integers(least, least + 2))

    def text(self) -> str:
        return self._draw(self.TEXTS)

    def integer(self, least: int, most: int) -> int:
        return self._draw(st.integers(least, most))

    def value(self) -> Any:
        return self._draw(self.VALUES)


@dataclass(frozen=True)
class Place:
    """A field or an item, and whether a fault in it is to be overlooked.

    ``sheltered``: something around it forgives, so that not even its absence counts;
    ``forgiven``: its own mark, or its list's, forgives a wrong value.
    """

    path: Path
    schema: Json | bool
    required: bool
    sheltered: bool
    forgiven: bool


@dataclass
class Made:
    """A value, its places, and the ways to its objects with the forms that these have."""

    value: Any = None
    places: list[Place] = field(default_factory=list)
    objects: list[tuple[Path, Form]] = field(default_factory=list)


def made(version: int, form: Form, chooser: Chooser) -> Made:
    """A value of a form."""
    result = Made()
    result.value = _Making(version, chooser, result).form(form, (), "", sheltered=False)
    return result


def value_of(version: int, schema: Json | bool, chooser: Chooser) -> Any:
    """A value of a schema, of the first form unless the chooser wants another."""
    making = _Making(version, chooser, Made())
    return making.form(chooser.among(forms(version, schema)), (), "", sheltered=False)


@dataclass
class _Making:
    version: int
    chooser: Chooser
    result: Made
    _skipping: dict[Path, bool] = field(default_factory=dict)

    def form(self, it: Form, path: Path, name: str, *, sheltered: bool) -> Any:
        limits, choose = it.limits, self.chooser
        if "const" in limits:
            return limits["const"]
        if "enum" in limits:
            return choose.among(limits["enum"])
        match it.kind:
            case "object":
                return self._object(it, path, sheltered=sheltered)
            case "array":
                return self._array(it, path, name, sheltered=sheltered)
            case "string":
                return self._string(it, name)
            case "boolean":
                return choose.among([False, True])
            case "integer":
                least = limits.get("minimum", -3 if self._drawing else 0)
                return choose.integer(least, limits.get("maximum", least + 2**33))
            case "number":
                least = limits.get("minimum", 0)
                return choose.integer(least * 4, limits.get("maximum", least + 8) * 4) / 4
            case "null":
                return None
            case kind:
                assert kind == ANY
                return choose.value()

    @property
    def _drawing(self) -> bool:
        return isinstance(self.chooser, Drawn)

    def _string(self, it: Form, name: str) -> str:
        text = self.chooser.text()
        if name in FREE and self._drawing and "minLength" not in it.limits:
            text = self.chooser.among([text, ""])
        if name in PATHS or it.last == "AbsolutePath":
            return "/w/" + text.replace("/", "").replace("\0", "")
        if it.limits.get("contentEncoding") == "base64":
            return base64.b64encode(text.encode()).decode()
        return text

    def _array(self, it: Form, path: Path, name: str, *, sheltered: bool) -> list[Any]:
        schema = it.limits.get("items", True)
        length = self.chooser.length(it.limits.get("minItems", 0))
        return [
            self._choice(schema, (*path, at), name, required=True, sheltered=sheltered, skips=True)
            for at in range(length)
        ]

    def _object(self, it: Form, path: Path, *, sheltered: bool) -> Json:
        found: Json = {}
        tags = {
            name: NEW_WORD + self.chooser.text() if word is UNKNOWN else word
            for name, word in it.tags.items()
        }
        for name, schema in it.fields.items():
            required = name in it.required
            if name in tags:
                found[name] = tags[name]
            elif required or self.chooser.wants(name):
                found[name] = self._choice(
                    schema, (*path, name), name, required=required, sheltered=sheltered
                )
        more = it.limits.get("additionalProperties")
        if isinstance(more, dict) and not it.fields:
            for at in range(self.chooser.length(0)):
                key = f"key{at}"
                found[key] = self._choice(
                    more, (*path, key), key, required=False, sheltered=sheltered
                )
        self.result.objects.append((path, it))
        return found

    def _choice(
        self,
        schema: Json | bool,
        path: Path,
        name: str,
        *,
        required: bool,
        sheltered: bool,
        skips: bool = False,
    ) -> Any:
        of = marks(schema)
        skips = skips and self._skipping.get(path[:-1], False)
        forgiven = ON_ERROR in of or skips
        self.result.places.append(Place(path, schema, required, sheltered, forgiven))
        self._skipping[path] = SKIPS in of
        form = self.chooser.among(forms(self.version, schema))
        return self.form(form, path, name, sheltered=sheltered or forgiven)
