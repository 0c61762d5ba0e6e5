"""What is stored, what only this run knows, and who waits for it."""

from __future__ import annotations

from acpls.permissions import Book, Remembered, dump
from acpls.permissions.book import SESSION_LIMIT

USER = Remembered("user", "allow", "demo", ("fetch",), "web")
HERE = Remembered("workspace", "deny", "demo", ("fetch",), "web", roots=("/a", "/b"))
MINE = Remembered("session", "allow", "demo", ("fetch",), "web", session="s1")


def rules(
    book: Book, session: str = "s1", roots: tuple[str, ...] = ("/b", "/a")
) -> set[Remembered]:
    return set(book.rules({session}, roots))


def test_each_scope_holds_where_it_says() -> None:
    book = Book()
    for rule in (USER, HERE, MINE):
        book.add(rule)
    assert rules(book) == {USER, HERE, MINE}
    assert rules(book, "s2") == {USER, HERE}
    assert rules(book, roots=("/a",)) == {USER, MINE}
    nowhere = Remembered("workspace", "allow", "demo")
    book.add(nowhere)
    assert nowhere not in rules(book, roots=())


def test_what_is_read_takes_the_place_of_what_was_known() -> None:
    book = Book()
    book.read([dump(USER), dump(HERE), {"format": 1}, "junk", dump(MINE)], 1)
    assert rules(book) == {USER, HERE}
    book.read([dump(HERE)], 2)
    assert rules(book) == {HERE}
    book.read(None, 3)
    book.read([dump(USER)], 1)
    assert rules(book) == {HERE}


def test_what_was_read_before_something_was_stored_undoes_nothing() -> None:
    book = Book()
    book.add(USER)
    book.read([], 1)
    assert rules(book) == {USER}
    book.is_stored(USER.key, 3)
    book.read([], 2)
    assert rules(book) == {USER}
    book.read([], 4)
    assert rules(book) == set()


def test_what_is_dropped_is_gone_at_once() -> None:
    book = Book()
    book.add(MINE)
    book.read([dump(USER)], 1)
    book.drop(USER)
    book.drop(MINE)
    assert rules(book) == set()
    book.is_stored(USER.key, 2)
    book.read([], 3)
    assert rules(book) == set()


def test_a_rule_that_is_added_again_before_it_was_taken_away_stays() -> None:
    book = Book()
    book.read([dump(USER)], 1)
    book.drop(USER)
    book.add(USER)
    book.is_stored(USER.key, 2)
    book.is_stored(USER.key, 3)
    assert rules(book) == {USER}


def test_rules_for_sessions_are_not_kept_without_end() -> None:
    book = Book()
    for number in range(SESSION_LIMIT + 5):
        book.add(Remembered("session", "allow", "demo", title=str(number), session="s1"))
    titles = [rule.title for rule in book.own.values()]
    assert titles == [str(number) for number in range(5, SESSION_LIMIT + 5)]


def test_a_question_waits_until_each_judgement_of_it_is_there() -> None:
    book = Book()
    book.awaits(["q1", "q2"])
    book.awaits(["q1"])
    book.judged(["q1", "q2", "q3"])
    assert (book.is_awaited("q1"), book.is_awaited("q2")) == (True, False)
    book.judged(["q1"])
    assert not book.is_awaited("q1")
    book.remembering += 1
    assert book.is_awaited("q2")
