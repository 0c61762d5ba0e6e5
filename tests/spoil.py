"""Messages with one part replaced by junk, for tests of what takes in messages."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2)
    ),
    max_leaves=4,
)


@st.composite
def spoiled(draw: st.DrawFn, good: Sequence[Any]) -> Any:
    """One of the good messages, with one part of it replaced by junk."""
    value = [copy.deepcopy(draw(st.sampled_from(good)))]
    *way, last = draw(st.sampled_from(list(_places(value, ()))))
    at: Any = value
    for step in way:
        at = at[step]
    at[last] = draw(JUNK)
    return value[0]


def _places(value: Any, path: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    inside: Any = ()
    if isinstance(value, dict):
        inside = value.items()
    elif isinstance(value, list):
        inside = enumerate(value)
    for key, inner in inside:
        yield (*path, key)
        yield from _places(inner, (*path, key))
