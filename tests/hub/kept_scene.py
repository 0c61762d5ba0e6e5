"""A scene in which what files held is stored, and the review outlives a run of the server."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from scene import NATIVE, ROOT, Scene

from acpls import effects as ef
from acpls import events as ev
from acpls.session import updates as up

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass
class Kept(Scene):
    """``store``: texts by the hash of their bytes; ``shelf``: what was stored, by roots, as
    JSON; ``modes``: permission bits of files, which are not forgotten with them.
    """

    store: dict[str, str] = field(default_factory=dict)
    shelf: dict[tuple[str, ...], str] = field(default_factory=dict)
    modes: dict[str, int] = field(default_factory=dict)

    def again(self, **files: str | None) -> Kept:
        """The server and the editor are started anew; ``files``: what changed meanwhile."""
        scene = Kept(
            ready=self.ready,
            holds={ef.LoadReview},
            store=self.store,
            shelf=self.shelf,
            modes=self.modes,
        )
        scene.disk = dict(self.disk)
        for name, text in files.items():
            scene.puts(f"{ROOT}/{name}.txt", text)
        scene.holds.clear()
        scene.let(ef.LoadReview)
        scene.settles()
        return scene

    @property
    def stored(self) -> Any:
        """What was stored last."""
        (value,) = self.shelf.values()
        return json.loads(value)

    def turn(self, *edits: tuple[str, str | None], title: str = "go", native: str = NATIVE) -> None:
        """An agent makes this of files in one turn, without a word."""
        key = next(k for k, s in self.state.sessions.items() if s.native == native)
        self.result("session.prompt", text=title, session=key)
        self.tells(up.TurnChanged("running"), native)
        for path, text in edits:
            self.puts(path, text)
            self.notices(path)
        self.ends(native=native)
        self.settles()

    def _do(self, effect: ef.Effect) -> None:
        match effect:
            case ef.LoadReview(token, roots):
                value = json.loads(self.shelf.get(roots, "null"))
                self.give(ev.ReviewLoaded(token, value))
            case ef.StoreReview(roots, None):
                self.shelf.pop(roots, None)
            case ef.StoreReview(roots, value):
                self.shelf[roots] = json.dumps(value)
            case ef.ReadStored(token, wanted):
                texts = {key: self.store[key] for key, _ in wanted if key in self.store}
                self.give(ev.StoredRead(token, texts))
            case _:
                super()._do(effect)

    def look(self, path: str, roots: Iterable[str] = (ROOT,)) -> ev.Disk:
        disk = self._known(super().look(path, roots))
        assert disk is not None
        return disk

    def _told(self, disk: ev.Disk) -> ev.Earlier:
        earlier = super()._told(disk)
        return replace(earlier, disk=self._known(earlier.disk))

    def _known(self, disk: ev.Disk | None) -> ev.Disk | None:
        if disk is None or disk.text is None or disk.content is None:
            return disk
        self.store[disk.content] = disk.text
        return replace(disk, form=ev.Form(mode=self.modes.get(disk.path)))
