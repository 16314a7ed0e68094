"""The order of orders."""

from sandlot.link.messages import Configuration, Halt, ManualMove, MapRequest, ModeChange
from sandlot.link.queue import Queue


def move(number, priority=False):
    return ManualMove(direction="left", duration=1.0, N=number, priority=priority)


def numbers(queue):
    taken = []
    while (entry := queue.take()) is not None:
        taken.append(entry.order.N)
        queue.done(entry)
    return taken


def test_priority_goes_first_and_each_kind_keeps_its_order():
    queue = Queue()
    for order in (move(1), move(2), move(3, priority=True), move(4), move(5, priority=True)):
        assert queue.put("a", order) == ""
    assert numbers(queue) == [3, 5, 1, 2, 4]


def test_a_mode_change_waits_whatever_its_priority():
    queue = Queue()
    for order in (move(1), ModeChange(mode="SEMI", priority=True, N=2), move(3, priority=True)):
        queue.put("a", order)
    assert numbers(queue) == [3, 1, 2]


def test_a_halt_with_priority_forgets_moves_and_keeps_the_rest():
    queue = Queue()
    for order in (move(1), Configuration(parameter="note", value=1, N=2), move(3), ModeChange(mode="AUTO", N=4)):
        queue.put("a", order)
    current = queue.take()
    dropped = queue.halt(Halt(priority=True, N=5))
    assert current.stop == "halted"
    assert [entry.order.N for entry in dropped] == [3]
    queue.done(current)
    assert numbers(queue) == [2, 4]


def test_a_halt_without_priority_stops_only_the_present_order():
    queue = Queue()
    queue.put("a", move(1))
    queue.put("a", move(2))
    current = queue.take()
    assert queue.halt(Halt(N=3)) == []
    assert current.stop
    queue.done(current)
    assert numbers(queue) == [2]


def test_only_quick_orders_at_the_front_are_taken_in_the_middle_of_a_move():
    queue = Queue()
    for order in (move(1), MapRequest(N=2), move(3), MapRequest(N=4)):
        queue.put("a", order)
    current = queue.take()
    assert queue.take(quick=True).order.N == 2
    assert queue.take(quick=True) is None
    assert queue.current is current


def test_nobody_else_drives_while_a_controller_has_orders():
    queue = Queue()
    queue.put("a", move(1))
    assert "another controller" in queue.put("b", move(1))
    assert queue.put("b", MapRequest(N=2)) == ""
    numbers(queue)
    assert queue.put("b", move(3)) == ""


def test_a_held_queue_executes_quick_orders_only():
    queue = Queue()
    queue.put("a", move(1))
    queue.hold("no word")
    assert queue.take() is None
    queue.put("a", Configuration(parameter="go_on", value=1, priority=True, N=2))
    assert queue.take().order.N == 2
    queue.go_on("a")
    assert queue.take().order.N == 1


def test_a_held_queue_changes_the_mode_if_no_move_waits_before_that():
    queue = Queue()
    queue.hold("no word")
    queue.put("a", ModeChange(mode="SEMI", N=1))
    assert queue.take(quick=True) is None
    assert queue.take().order.N == 1
    queue.put("a", move(2))
    queue.put("a", ModeChange(mode="MANUAL", N=3))
    queue.put("a", MapRequest(N=4))
    assert queue.take().order.N == 4
    assert queue.take() is None


def test_whoever_lets_a_rover_go_on_is_watched():
    queue = Queue()
    queue.put("a", move(1))
    assert queue.front().watched == "a"
    queue.hold("no word")
    queue.go_on("b")
    assert (queue.front().watched, queue.front().session) == ("b", "a")


def test_an_order_that_is_put_back_comes_first_and_may_go_on():
    queue = Queue()
    queue.put("a", move(1))
    queue.put("a", move(2))
    current = queue.take()
    queue.hold("no word")
    queue.put_back(current)
    queue.put("a", Configuration(parameter="go_on", value=1, priority=True, N=3))
    assert queue.take().order.N == 3  # it passes the order that was put back
    queue.go_on("a")
    assert current.stop == ""
    assert numbers(queue) == [1, 2]


def test_a_halt_ends_an_order_that_was_held_and_the_standing_one():
    """Whichever comes first: a lost link, a halt, or the executor that notices them."""
    queue = Queue()
    queue.put("a", move(1))
    current = queue.take()
    queue.hold("no word")
    queue.halt(Halt(priority=True, N=2))
    assert not queue.put_back(current)
    queue.done(current)
    queue.put("a", ModeChange(mode="AUTO", N=3))
    queue.go_on("a")
    queue.standing = queue.take()
    queue.done(queue.standing)
    assert queue.begin(queue.standing)
    queue.done(queue.standing)
    queue.halt(Halt(N=4))
    assert not queue.begin(queue.standing)


def test_a_lost_link_does_not_undo_a_halt():
    queue = Queue()
    queue.put("a", move(1))
    current = queue.take()
    queue.halt(Halt(N=2))
    queue.hold("no word")
    assert current.stop == "halted"
