"""Work in turns."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

from sandlot.link.turns import AT_ONCE, Turns

NAMES = [f"connection {k}" for k in range(3 * AT_ONCE)]


def finish(work):
    """Run it in a thread of its own; tests in a browser may leave an event loop running in this one."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, work).result()


def test_what_came_meanwhile_goes_before_the_rest_of_the_work():
    done = []

    async def run():
        turns, loop = Turns(), asyncio.get_running_loop()
        left = dict.fromkeys(NAMES, 10)

        def work(name):
            done.append(name)
            left[name] -= 1
            if len(done) == 1:
                loop.call_soon(lambda: done.append("halt"))
            return left[name] > 0

        for name in left:
            turns.add(lambda name=name: work(name))
        while any(left.values()):
            await asyncio.sleep(0)

    finish(run())
    assert done.index("halt") == AT_ONCE
    assert done[:AT_ONCE] == NAMES[:AT_ONCE]
    assert sorted(done) == sorted(10 * NAMES + ["halt"])


def test_work_that_fails_does_not_stop_the_others():
    done = []

    async def run():
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: done.append("failed"))
        turns = Turns()
        turns.add(lambda: 1 // 0)
        turns.add(lambda: done.append("done") or False)
        await asyncio.sleep(0.01)

    finish(run())
    assert done == ["failed", "done"]
