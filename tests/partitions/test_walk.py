"""The driver of long work, on a tree of words: whatever stops it, words are found or left, and none twice."""

import math
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reluscope.budget import Budget
from reluscope.effort import Effort
from reluscope.kernel_threads import kernel_threads
from reluscope.partitions.driver import stepped_search
from reluscope.partitions.driver.best_first import BestFirst, Branch
from reluscope.partitions.driver.walk import Step, Walked, task_name, walk
from reluscope.progress import RegionProgress
from reluscope.stopping import INTERRUPTED, Stop, StopReason, words_of
from reluscope.time_limits import OutOfTime

LENGTH = 6
WORDS = {f"{number:0{LENGTH}b}" for number in range(2**LENGTH)}


@dataclass(frozen=True)
class Word:
    """The beginnings of words."""

    letters: tuple[str, ...]

    @property
    def is_finished(self):
        return len(self.letters[0]) == LENGTH

    @property
    def level(self):
        return len(self.letters[0])

    def __len__(self):
        return len(self.letters)


def longer(word, room):
    del room
    return Step([Word((one + letter,)) for one in word.letters for letter in "10"], work={"steps": 1})


def tasks_of(words):
    return list(words) if len(words) >= 5 else None


def every(budget=Budget(), executor=None, **options):  # noqa: B008
    effort = Effort(budget, executor, count=options.pop("progress", None), began=options.pop("began", None))
    return walk([Word(("",))], longer, effort=effort, **{"finish": lambda word: list(word.letters), **options})


@pytest.mark.parametrize("with_tasks", [False, True])
def test_beside_other_workers_kernels_have_one_thread(monkeypatch, with_tasks):
    monkeypatch.setattr("torch.get_num_threads", lambda: 7)
    numbers = {False: set(), True: set()}

    def seen(word, room):
        numbers[threading.current_thread() is threading.main_thread()].add(kernel_threads(1, 0))
        return longer(word, room)

    with ThreadPoolExecutor(2) as executor:
        options = {"split": tasks_of, "effort": Effort(executor=executor)} if with_tasks else {"effort": Effort()}
        walk([Word(("",))], seen, **options)
    assert numbers == {True: {7}, False: {1} if with_tasks else set()}


def found_in(walked):
    return [letters for part in walked.parts for letters in part]


@given(regions=st.none() | st.integers(0, 70), with_tasks=st.booleans())
def test_words_are_found_or_left(regions, with_tasks):
    with ThreadPoolExecutor(2) as executor:
        options = {"split": tasks_of, "executor": executor} if with_tasks else {}
        found = every(budget=Budget(regions=regions), **options)
    words = found_in(found)
    assert len(set(words)) == len(words) == found.num_found
    if regions is None or regions >= len(WORDS):
        assert (set(words), found.left, words_of(found.stop), found.work["steps"]) == (WORDS, (), "", 2**LENGTH - 1)
    else:
        assert len(words) == regions
        assert found.left
        assert words_of(found.stop) == f"budget of {regions:,} regions"
        assert len(words) + sum(found.left) <= len(WORDS)


def test_without_a_split_the_order_is_that_of_steps():
    assert found_in(every()) == sorted(WORDS)
    assert found_in(every(split=tasks_of)) == sorted(WORDS)  # with nobody to hand tasks to
    with ThreadPoolExecutor(2) as executor:
        assert found_in(every(executor=executor)) == sorted(WORDS)
    assert every(finish=None).parts == []
    assert every(finish=None).num_found == len(WORDS)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), MemoryError(), RuntimeError("can't allocate memory")])
def test_what_a_step_was_at_stays(error):
    calls = iter(range(100))

    def failing(word, room):
        if next(calls) == 20:
            raise error
        return longer(word, room)

    found = walk([Word(("",))], failing, finish=lambda word: list(word.letters), effort=Effort())
    assert words_of(found.stop) == ("interrupted" if isinstance(error, KeyboardInterrupt) else "out of memory")
    # All words whose beginnings are left or found.
    assert 0 < found.num_found < len(WORDS)
    assert set(found_in(found)) == set(sorted(WORDS)[: found.num_found])
    assert found.left


def test_other_errors_are_raised():
    with pytest.raises(RuntimeError, match="something else"):
        walk([Word(("",))], lambda word, room: fail("something else"), effort=Effort())


def fail(words):
    raise RuntimeError(words)


def test_whatever_the_time_there_is_a_first_word():
    found = every(budget=Budget(seconds=0.0))
    assert (found_in(found), words_of(found.stop)) == (["000000"], "budget of 0 s")
    assert every(budget=Budget(regions=0)).parts == []


@pytest.mark.parametrize("with_tasks", [False, True])
def test_cells_that_are_no_regions_after_all_are_undecided(with_tasks):
    with ThreadPoolExecutor(2) as executor:
        options = {"split": tasks_of, "executor": executor} if with_tasks else {}
        found = every(finish=lambda word: [one for one in word.letters if one > "1"], **options)
    assert (found.num_found, found.num_undecided, found.left, words_of(found.stop)) == (32, 32, (), "")


def test_tasks_that_are_kept_are_not_done_again():
    kept, steps = {task_name(2): Walked(num_found=7)}, []

    def counted(word, room):
        steps.append(word)
        return longer(word, room)

    found = walk([Word(("",))], counted, split=tasks_of, effort=Effort(), checkpoint=lambda tasks: kept)
    # Three beginnings of two letters, and two of three.
    assert len(kept) == 5
    assert found.num_found == len(WORDS) - 16 + 7
    again = walk([Word(("",))], counted, split=tasks_of, effort=Effort(), checkpoint=lambda tasks: kept)
    assert again.num_found == found.num_found
    assert len(steps) == 4 + 2 * 15 + 2 * 7 + 4  # to the tasks, in those that were not known, and to the tasks again


@pytest.mark.parametrize("with_tasks", [False, True])
def test_shares_add_up(with_tasks):
    told, found = [], []

    class Told(RegionProgress):
        def __call__(self, number, share):
            super().__call__(number, share)
            found.append(number)

    with ThreadPoolExecutor(2) as executor:
        options = {"split": tasks_of, "executor": executor} if with_tasks else {}
        every(progress=Told(told.append), **options)
    assert told == sorted(told)
    assert told[-1] == pytest.approx(1.0)
    assert sum(found) == len(WORDS)


class Shortest(BestFirst):
    """The least number whose square is at least a goal, by halving."""

    def __init__(self, goal):
        super().__init__()
        self.goal, self.best = goal, float("inf")
        self.order = []

    def is_settled(self, key):
        return key >= self.best

    def start(self):
        self.num_branches += 1
        self.push(0.0, (0, 1024))

    def split(self, branch: Branch):
        self.order.append(branch.key)
        low, high = branch.what
        for first, last in ((low, (low + high) // 2), ((low + high) // 2, high)):
            self.num_branches += 1
            if (last - 1) ** 2 >= self.goal and first < last:
                if last - first == 1:
                    self.best = min(self.best, first)
                else:
                    self.push(float(first), (first, last))


def test_the_least_bound_comes_first():
    for goal in (0, 1, 2, 900, 901, 10**6):
        search = Shortest(goal)
        assert words_of(search.run(Budget())) == ""
        assert search.best == next(number for number in range(1024) if number**2 >= goal)
        assert search.order == sorted(search.order)
        assert search.frontier == search.order[-1]


def test_a_search_that_stops_knows_how_far_it_came():
    search = Shortest(901)
    assert words_of(search.run(Budget(regions=6))) == "budget of 6 regions"
    assert search.num_branches == 7  # one at first, and two for each that is split
    assert search.frontier <= 31


def test_a_step_that_ended_half_way_is_not_taken_for_done():
    class Failing(Shortest):
        def split(self, branch):
            raise MemoryError

    search = Failing(901)
    assert words_of(search.run(Budget())) == "out of memory"
    assert words_of(search.run(Budget())) == "out of memory"
    assert search.frontier == 0.0


@pytest.mark.parametrize("after", range(8))
@pytest.mark.parametrize("error", [KeyboardInterrupt(), OutOfTime(1.0)])
def test_a_step_that_is_left_half_way_is_taken_back(after, error):
    """As if the step had never been begun: its branches wait again, and nothing of their parts is there."""

    class Leaving(Shortest):
        steps = after

        def split(self, branch):
            others = self.with_next(branch, 2)[1:]
            for what in others:
                self.push(float(what[0]), what)
            super().split(branch)
            self.steps -= 1
            if self.steps < 0:
                raise error

    search, whole = Leaving(901), Shortest(901)
    stopped = search.run(Budget())
    assert stopped in (INTERRUPTED, Stop(StopReason.SECONDS, 1.0))
    assert not search.is_broken
    whole.run(Budget(regions=search.num_branches))
    assert sorted(branch.what for branch in search.queue) == sorted(branch.what for branch in whole.queue)
    assert (search.num_branches, search.best) == (whole.num_branches, whole.best)
    assert search.order == sorted(search.order)
    assert search.lower <= 31


@pytest.mark.parametrize("error", [KeyboardInterrupt(), OutOfTime(1.0)])
def test_a_search_that_is_left_as_it_begins_has_not_begun(error):
    """Nothing waits in it, which must not be taken for all being done."""

    class Leaving(Shortest):
        def start(self):
            super().start()
            raise error

    search = Leaving(901)
    assert search.run(Budget()) is not None
    assert not search.is_begun
    assert (search.queue, search.num_branches, search.frontier) == ([], 0, 0.0)


def test_an_executor_has_nothing_to_do_where_work_is_not_broken_up():
    with ThreadPoolExecutor(2) as executor:
        for options in ({"executor": executor}, {"checkpoint": lambda tasks: {}}):
            found = every(split=None, **options)
            assert (set(found_in(found)), found.left, words_of(found.stop)) == (WORDS, (), "")


def test_work_in_one_piece_is_the_same_whether_it_could_be_broken_up_or_not():
    asked: list[int] = []

    def split(words):
        asked.append(len(words))
        return tasks_of(words)

    assert found_in(every(split=split)) == found_in(every())
    assert asked == []


@pytest.mark.parametrize("has_executor", [False, True])
@pytest.mark.parametrize("regions", [0, 1, 5, 16, 17, 40, 63, 64, 65])
def test_tasks_share_a_budget_and_what_is_kept_goes_on(has_executor, regions):
    kept: dict[str, Walked] = {}
    with ThreadPoolExecutor(2) as executor:
        options = {"split": tasks_of, "executor": executor if has_executor else None}
        plain = every(budget=Budget(regions=regions), **options)
        part = every(budget=Budget(regions=regions), checkpoint=lambda tasks: kept, **options)
        for found in (plain, part):
            words = found_in(found)
            assert len(set(words)) == len(words) == found.num_found == min(regions, 64)
            assert words_of(found.stop) == ("" if regions >= 64 else f"budget of {regions} regions")
            assert bool(found.left) == (regions < 64)
        assert not any(one.left for one in kept.values())
        assert {word for one in kept.values() for word in found_in(one)} <= set(found_in(part))
        known = sum(one.num_found for one in kept.values())  # all of what was kept, and no more than the budget
        again = every(budget=Budget(regions=50), checkpoint=lambda tasks: kept, **options)
        assert again.num_found == max(50, known)
        told: list[float] = []
        whole = every(checkpoint=lambda tasks: kept, progress=RegionProgress(told.append), **options)
    assert sorted(found_in(whole)) == sorted(WORDS)
    assert (whole.left, words_of(whole.stop), whole.work["steps"]) == ((), "", 2**LENGTH - 1)
    assert told[-1] == pytest.approx(1.0)
    assert len(kept) == 5


@pytest.mark.parametrize("has_executor", [False, True])
def test_tasks_without_time_come_to_a_first_word(has_executor):
    with ThreadPoolExecutor(2) as executor:
        found = every(split=tasks_of, executor=executor if has_executor else None, budget=Budget(seconds=0.0))
    assert (found.num_found, words_of(found.stop)) == (1, "budget of 0 s")
    assert sum(found.left) > 0


class Hopeless(Budget):
    """Work in parts makes no sense."""

    def foresee(self):
        return Stop(StopReason.HOPELESS, details="nobody to do it")


def test_what_is_not_handed_out_comes_to_a_first_word():
    with ThreadPoolExecutor(2) as executor:
        found = every(split=tasks_of, executor=executor, budget=Hopeless())
    assert (found_in(found), words_of(found.stop)) == (["100000"], "hopeless: nobody to do it")


@pytest.mark.parametrize("error", [KeyboardInterrupt(), MemoryError()])
def test_a_task_that_is_given_up_is_left(error):
    def failing(word, room):
        if word.letters[0].startswith("01"):
            raise error
        return longer(word, room)

    found = walk(
        [Word(("",))],
        failing,
        finish=lambda word: list(word.letters),
        split=lambda words: list(words) if all(one.level == 2 for one in words) else None,
        checkpoint=lambda tasks: {},
        effort=Effort(),
    )
    words = set(found_in(found))
    assert words_of(found.stop) == ("interrupted" if isinstance(error, KeyboardInterrupt) else "out of memory")
    assert found.left
    assert not any(word.startswith("01") for word in words)
    assert bool(words) == isinstance(error, MemoryError)  # the first task is given up: Ctrl-C ends all work


def test_what_exceeds_a_budget_counts_as_left():
    walked = Walked([["a", "b"], ["c"], ["d", "e"]], 5, 0, (7,), "", {})
    for most, number, left in ((5, 5, (7,)), (4, 5, (7,)), (3, 3, (7, 2)), (2, 2, (7, 2, 1)), (0, 0, (7, 2, 1, 2))):
        part = walked.within(most, len)
        assert (part.num_found, part.left) == (number, left)
        assert sum(map(len, part.parts)) == number


def test_a_search_tells_how_much_of_its_budget_is_spent(monkeypatch):
    monkeypatch.setattr(stepped_search, "INTERVAL", 0.0)
    told: list[float] = []
    search = Shortest(901)
    search.run(Budget(regions=1000), told.append)
    assert told == sorted(told)
    assert told[-1] == 1.0
    assert 0 < told[-2] < 1


def test_a_search_without_limits_tells_its_own_share(monkeypatch):
    """Of a budget of regions a thousandth is spent where half of the search is done."""
    monkeypatch.setattr(stepped_search, "INTERVAL", 0.0)

    class Halved(Shortest):
        share_left = 0.5

    told: list[float] = []
    Halved(901).run(Budget(regions=10**6), told.append)
    assert len(told) > 2
    assert set(told[:-1]) == {0.5}


@pytest.mark.parametrize("with_tasks", [False, True])
def test_what_steps_leave_undecided_adds_up(with_tasks):
    def doubtful(word, room):
        return longer(word, room)._replace(num_undecided=len(word))

    with ThreadPoolExecutor(2) as executor:
        options = {"split": tasks_of, "effort": Effort(executor=executor)} if with_tasks else {"effort": Effort()}
        found = walk([Word(("",))], doubtful, **options)
    assert found.num_undecided == 2**LENGTH - 1


def test_tasks_that_are_kept_are_the_same_whatever_the_budget():
    for options, expected in (({"checkpoint": lambda tasks: {}}, math.inf), ({}, 5)):
        rooms: list[tuple[int, float]] = []

        def asked(word, room, rooms=rooms):
            rooms.append((word.level, room))
            return longer(word, room)

        with ThreadPoolExecutor(1) as executor:
            walk([Word(("",))], asked, split=tasks_of, effort=Effort(Budget(regions=5), executor), **options)
        assert {room for level, room in rooms if level < 2} == {expected}
        assert max(room for level, room in rooms if level > 3) == 5


def test_tasks_are_counted_with_those_that_are_kept():
    shown: list[tuple[int, int]] = []

    class Shown(RegionProgress):
        def show_tasks(self, done, tasks):
            shown.append((done, tasks))

    with ThreadPoolExecutor(1) as executor:
        kept = {task_name(2): Walked(num_found=7), task_name(0): Walked(num_found=7)}
        every(split=tasks_of, executor=executor, checkpoint=lambda tasks: kept, progress=Shown(lambda share: None))
    assert shown == sorted(shown)
    assert shown[0][0] >= 2
    assert shown[-1] == (5, 5)


def test_tasks_without_regions_are_no_reason_to_look_for_more():
    """Four of five tasks find nothing; the budget is spent by what the other one finds."""
    with ThreadPoolExecutor(1) as executor:
        found = every(
            split=tasks_of,
            executor=executor,
            finish=lambda word: [one for one in word.letters if one.startswith("00")],
            budget=Budget(regions=3),
        )
    assert found_in(found) == sorted(found_in(found))
    assert found.num_found == 3


def test_a_frontier_does_not_go_back():
    search = Shortest(901)
    search.is_begun, search.frontier = True, 5.0
    search.push(2.0, (2, 4))
    assert words_of(search.run(Budget())) == ""
    assert (search.order, search.frontier) == ([2.0], 5.0)


def test_what_is_left_is_as_good_as_the_best_branch():
    search = Shortest(901)
    assert search.least_key == -math.inf
    search.begin()
    assert search.least_key == 0.0
    search.push(-3.0, (0, 2))
    assert search.least_key == -3.0
    search.push(7.0, (2, 4))
    assert len(search) == 3
    for frontier in (-5.0, 1.0):
        search.frontier = frontier
        assert search.lower == max(frontier, -3.0)
    search.queue.clear()
    assert (search.least_key, search.lower, len(search)) == (math.inf, 1.0, 1)
    search.is_broken = True
    assert search.least_key == -math.inf
