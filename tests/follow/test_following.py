"""What the user wants of following, and when he may be moved (F02, F07)."""

from __future__ import annotations

import pytest

from acpls.follow import MOVE_EVERY_S, Follow, Place


def test_nothing_is_followed_until_somebody_wants_that_f02_f11() -> None:
    follow = Follow()
    assert (follow.on, follow.word("s1"), follow.word(None)) == (False, "off", "off")
    assert follow.here("s1") is None


@pytest.mark.parametrize("remembered", [None, True, False])
@pytest.mark.parametrize("setting", [None, True, False])
@pytest.mark.parametrize("chosen", [None, True, False])
def test_a_choice_counts_more_than_the_setting_and_that_more_than_what_is_remembered_f07(
    chosen: bool | None, setting: bool | None, remembered: bool | None
) -> None:
    follow = Follow(chosen=chosen, setting=setting, remembered=remembered)
    wishes = [wish for wish in (chosen, setting, remembered) if wish is not None]
    assert follow.on is (wishes[0] if wishes else False)


def test_settings_that_come_again_do_not_take_a_choice_back_f07() -> None:
    follow = Follow()
    follow.set(None)
    follow.choose(on=True)
    for setting in (False, None, False):
        follow.set(setting)
        assert follow.on
    # Who turns the setting round wants that.
    follow.set(True)
    follow.choose(on=False)
    follow.set(False)
    follow.set(True)
    assert follow.on


def test_what_is_wanted_of_one_session_holds_until_all_are_meant_f07() -> None:
    follow = Follow()
    follow.choose(on=True, session="s2")
    assert follow.watched == "s2"
    assert (follow.word("s2"), follow.word("s1"), follow.on) == ("on", "off", False)
    follow.choose(on=True)
    follow.choose(on=False, session="s2")
    assert (follow.word("s2"), follow.word("s1")) == ("off", "on")
    assert follow.watched is None
    follow.choose(on=True)
    assert follow.word("s2") == "on"


def test_who_went_away_is_fetched_only_when_he_says_so() -> None:
    follow = Follow(chosen=True, paused=True, shown=Place("/w/a", 1, "read"))
    assert follow.word("s1") == "paused"
    follow.choose(on=False)
    assert follow.word("s1") == "off"
    follow.choose(on=True)
    assert (follow.word("s1"), follow.shown) == ("on", None)


def test_the_user_has_to_rest_and_is_not_moved_too_often() -> None:
    follow = Follow(idle_s=2.0)
    assert follow.wait_s(0.0) == 0.0
    follow.acts(10.0)
    assert [follow.wait_s(now) for now in (10.0, 11.5, 12.0, 13.0)] == [2.0, 0.5, 0.0, 0.0]
    follow.moved_at_s = 13.0
    assert follow.wait_s(13.0) == MOVE_EVERY_S
    follow.acts(13.0)
    assert follow.wait_s(13.0) == 2.0
