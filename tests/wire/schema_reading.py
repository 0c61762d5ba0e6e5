"""Which objects of the published schemas a client reads, and which model reads each.

The walk starts at what agents send: results of our requests, their own requests and
notifications. What it need not enter stands in ``schema_tables``.
"""

from __future__ import annotations

import pkgutil
from collections import defaultdict
from importlib import import_module
from typing import TYPE_CHECKING, Final

from schema_forms import UNKNOWN, Form, children, forms_of, methods
from schema_tables import KEPT_WHOLE, MODELS, NO_MODEL, NOT_READ

import acpls.wire
from acpls.wire.fields import Model

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pydantic.fields import FieldInfo

VERSIONS: Final = (1, 2)
MODULES: Final = {
    name: import_module(f"acpls.wire.{name}")
    for _, name, _ in pkgutil.iter_modules(acpls.wire.__path__)
}


def roots(version: int) -> Iterator[str]:
    """The definitions of what agents send."""
    for parameters, _ in (methods(version, "client") | methods(version, "protocol")).values():
        yield parameters
    for _, result in methods(version, "agent").values():
        if result is not None:
            yield result


def walk(version: int) -> dict[str, list[Form]]:
    """Every form of an object that we read, by its label; one label has several tags."""
    found: dict[str, list[Form]] = defaultdict(list)

    def enter(it: Form) -> None:
        known = found[it.label]
        if it in known:
            return
        known.append(it)
        for name, schema in it.read.items():
            if not unread(version, it, name) and not kept_whole(version, it, name):
                for child in children(version, schema):
                    enter(child)

    for root in roots(version):
        for it in forms_of(version, root):
            enter(it)
    return found


def listed(table: Iterable[tuple[int, str, str]], version: int, it: Form, name: str) -> bool:
    return bool({(version, it.label, name), (0, it.label, name), (0, "*", name)} & set(table))


def unread(version: int, it: Form, name: str) -> bool:
    return listed(NOT_READ, version, it, name)


def kept_whole(version: int, it: Form, name: str) -> bool:
    return listed(KEPT_WHOLE, version, it, name)


def model_of(version: int, it: Form) -> type[Model] | None:
    """The model that reads a form: by the table, else by the definition's name."""
    name = MODELS.get((version, it.label), MODELS.get((0, it.label), it.label))
    for module, contents in MODULES.items():
        found = getattr(contents, name, None)
        other = module.startswith(f"v{3 - version}")
        if not other and isinstance(found, type) and issubclass(found, Model):
            return found
    return None


def mapped(version: int, it: Form) -> bool:
    return bool({(version, it.label), (0, it.label)} & set(MODELS))


def needs_model(version: int, it: Form) -> bool:
    """Whether there is something to read: a mere mark of a capability has no fields."""
    fields = [name for name in it.read if not unread(version, it, name)]
    fields += [name for name, word in it.tags.items() if word is UNKNOWN and mapped(version, it)]
    return bool(fields) and (version, it.label) not in NO_MODEL


WALKED: Final = {version: walk(version) for version in VERSIONS}
FORMS: Final = [
    (version, it) for version in VERSIONS for of in WALKED[version].values() for it in of
]
# One of each label, whatever its tags are.
READ: Final = list(
    {
        (version, it.label, *it.read): (version, it, shape)
        for version, it in reversed(FORMS)
        if needs_model(version, it) and (shape := model_of(version, it)) is not None
    }.values()
)


def module_of(shape: type[Model]) -> str:
    return shape.__module__.rpartition(".")[2]


def names(shape: type[Model]) -> dict[str, str]:
    """The wire names of a model's fields, with the fields' own names."""
    return {wire_name(name, it): name for name, it in shape.model_fields.items()}


def wire_name(name: str, it: FieldInfo) -> str:
    return it.alias or name


def schemas(version: int) -> dict[type[Model], list[Form]]:
    """The forms that each model reads."""
    found: dict[type[Model], list[Form]] = defaultdict(list)
    for of in WALKED[version].values():
        for it in of:
            if (shape := model_of(version, it)) is not None:
                found[shape].append(it)
    return found


SERVED: Final = {version: schemas(version) for version in VERSIONS}
