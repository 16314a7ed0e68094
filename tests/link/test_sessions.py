"""What a rover remembers of its controllers."""

from sandlot.link.sessions import Sessions


def test_the_session_that_was_silent_for_longest_is_forgotten_first():
    sessions = Sessions(most=3)
    for k, name in enumerate("abc"):
        sessions.open(name, float(k))
    sessions.get("a").heard = 10.0  # it was opened first, and still speaks
    sessions.open("d", 11.0)
    assert [name for name in "abcd" if sessions.get(name) is not None] == ["a", "c", "d"]
