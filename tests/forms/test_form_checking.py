"""Values are checked before they are sent, and what is wrong is said in plain words."""

from __future__ import annotations

from typing import Any

import pytest

from acpls.forms import Choice, Field, Form, fitted
from acpls.forms.checking import problem_with

MARK = "hunter2"
AB = (Choice("a", "A"), Choice("b", "B"))
FORM = Form(
    (
        Field("name", "string", "Your name", required=True, low=2),
        Field("age", "integer", "Age"),
        Field("likes", "array", "Likes", choices=AB),
    )
)


def field(kind: Any = "string", **limits: Any) -> Field:
    return Field("x", kind, "X", **limits)


@pytest.mark.parametrize(
    ("of", "value"),
    [
        (field(), ""),
        (field(low=2, high=2), "ab"),
        # Code points are counted, not halves of surrogate pairs.
        (field(low=2, high=2), "\U0001f600\U0001f600"),
        (field(choices=AB), "a"),
        (field(pattern="^a+$"), "aaa"),
        (field(pattern=r"(a)\1"), "what cannot be read alike is not enforced"),
        (field(format="colour"), "unknown formats are remarks"),
        (field(format="date"), "2026-05-01"),
        (field("number", low=0, high=1), 0.5),
        (field("number"), 3),
        (field("integer", low=-1), -1),
        (field("integer"), 3.0),
        (field("boolean"), False),
        (field("array", choices=AB), []),
        (field("array", choices=AB, low=1, high=2), ["b", "a"]),
    ],
)
def test_what_fits(of: Field, value: object) -> None:
    assert problem_with(of, value) is None


@pytest.mark.parametrize(
    ("of", "value", "why"),
    [
        (field(), 3, "must be a text"),
        (field(), None, "must be a text"),
        (field(), "\ud800", "must be a text"),
        (field(low=3, high=3), MARK, "must have 3 characters"),
        (field(low=1, high=1), MARK, "must have 1 character"),
        (field(low=8), MARK, "must have at least 8 characters"),
        (field(high=1), MARK, "must have at most 1 character"),
        (field(low=1, high=3), MARK, "must have 1 to 3 characters"),
        (field(choices=AB), MARK, 'must be one of "a", "b"'),
        (
            field(choices=tuple(Choice(str(n), "") for n in range(12))),
            MARK,
            'must be one of "0", "1", "2", "3", "4", "5", "6", "7", "8", "9" and 2 more',
        ),
        (field(pattern="^a\n$"), MARK, "must fit the pattern ^a $"),
        (field(format="email"), MARK, "must be an e-mail address"),
        (field("number"), True, "must be a number"),
        (field("number"), MARK, "must be a number"),
        (field("number"), float("nan"), "must be a number"),
        (field("number"), float("inf"), "must be a number"),
        (field("number"), 10**400, "has too many digits"),
        (field("number", low=0.5), 0, "must be at least 0.5"),
        (field("number", high=1e20), 1e21, "must be at most 1e+20"),
        (field("integer"), 2**63, "has too many digits"),
        (field("integer"), 1.5, "must be a whole number"),
        (field("integer"), "3", "must be a whole number"),
        (field("integer", low=1.0, high=5), 6, "must be 1 to 5"),
        (field("boolean"), 0, "must be true or false"),
        (field("array", choices=AB), "a", "must be a list of choices"),
        (field("array", choices=AB), [1], "must be a list of choices"),
        (field("array", choices=AB), [MARK], 'may only have "a", "b"'),
        (field("array", choices=AB), ["a", "a"], "has a choice twice"),
        (field("array", choices=AB, low=1), [], "must have at least 1 choice"),
    ],
)
def test_what_does_not_fit(of: Field, value: object, why: str) -> None:
    assert problem_with(of, value) == why
    assert MARK not in why


def test_all_of_a_form() -> None:
    assert fitted(FORM, {"age": 3.0, "name": "Ann"}) == ({"name": "Ann", "age": 3}, ())
    # Null is the same as left out.
    assert fitted(FORM, {"age": None, "name": "Ann"}) == ({"name": "Ann"}, ())


def test_each_field_has_its_own_problem() -> None:
    _, unfit = fitted(FORM, {"age": 1.5, "likes": ["c"], "else": 1})
    assert [(u.name, u.why) for u in unfit] == [
        ("else", "is no field of the form"),
        ("name", "must be filled in"),
        ("age", "must be a whole number"),
        ("likes", 'may only have "a", "b"'),
    ]
    assert [u.field is None for u in unfit] == [True, False, False, False]


# --- formats -----------------------------------------------------------------------------

FORMATS = {
    "email": (
        ["a@b", "a.b+c@d.example", '"a b"@c.example', "ä@ö.example"],
        ["", "a", "@b", "a@", "a b@c", "a@b c", "a@b@c", "a@b\n"],
    ),
    "uri": (
        ["https://a.example/b?c=d#e", "mailto:a@b", "urn:x:y", "http://[::1]/%2F"],
        ["", "a", "//a", "http:", "http://a b", "http://ä", "http://a/%2", "1a:b", "a:<b>"],
    ),
    "date": (
        ["2026-05-01", "2024-02-29", "2000-02-29", "0000-01-01"],
        [
            *("", "2026-5-1", "2026-02-29", "1900-02-29", "2026-13-01", "2026-00-10", "2026-04-31"),
            *("2026-01-00", "20260501", "٢026-05-01", "2026-05-01\n"),
        ],
    ),
    "date-time": (
        ["2026-05-01T12:30:00Z", "2026-05-01t12:30:00.25+02:00", "2016-12-31 23:59:60z"],
        [
            *("2026-05-01", "2026-05-01T12:30:00", "2026-05-01T24:00:00Z", "2026-05-01T12:60:00Z"),
            *("2026-05-01T12:30:61Z", "2026-02-30T12:30:00Z", "2026-05-01T12:30:00+24:00"),
        ],
    ),
}


@pytest.mark.parametrize("name", FORMATS)
def test_the_formats(name: str) -> None:
    right, wrong = FORMATS[name]
    of = field(format=name)
    assert [text for text in right if problem_with(of, text) is not None] == []
    assert [text for text in wrong if problem_with(of, text) is None] == []
