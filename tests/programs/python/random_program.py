"""random_program.py CHECKS [evaluator]: checks the stack at the leaves of a random program, on two threads, while others
make the interpreter as restless as they can. `evaluator`: now and then another function runs the frames (PEP 523).

The file is long because it is a list: one small function for each kind of step, and for each kind of unrest."""
import asyncio
import ctypes
import functools
import gc
import random
import signal
import sys
import threading
import time
import weakref

import stack_check
from stack_check import capacity, check, check_merged, free, held

try:
    import greenlet
except ImportError:
    greenlet = None

total = int(sys.argv[1])
stop = False
instruments_at_cost = sys.version_info >= (3, 12)  # each change of tracing rewrites all code


class State(threading.local):
    def __init__(self):
        self.random = random.Random()
        self.depth = self.count = 0
        self.buffers = []
        self.suspended = []  # greenlets, of threads that may switch
        self.greenlets = self.switched = 0
        self.switches = False


state = State()


def leaf():
    mine = state
    buffer = mine.buffers.pop() if mine.buffers else ctypes.create_string_buffer(capacity)  # a signal may come between
    mine.count += 1
    check(buffer, keep_gil=mine.count % 7 == 0, twice=mine.count % 500 == 0)
    if mine.count % 4 == 0:
        check_merged(buffer)
    mine.buffers.append(buffer)


def go():
    if state.depth <= 0:
        return leaf()
    state.depth -= 1
    return state.random.choice(steps)()


def seldom(probability):
    return state.random.random() < probability


def several_lines():
    one = 1
    return (go()
            if one else
            None)


def keywords(*values, **named):
    return go() if named else keywords(1, 2, z=3)


def generator():
    def inner(count):
        for i in range(count):
            yield i
        yield go()

    def outer():
        yield from inner(2)

    return list(outer())


def coroutine():
    async def inner():
        return go()

    async def outer():
        return await inner()

    try:
        outer().send(None)
    except StopIteration as end:
        return end.value


def asynchronous_generator():
    async def values():
        yield 1
        yield go()

    async def consume():
        async for _ in values():
            pass

    try:
        consume().send(None)
    except StopIteration:
        pass


class Base:
    def __init__(self, make=None):
        self.made = (make() if make else
                     None)


class Derived(Base):
    __slots__ = ("more",)

    def __init__(self):
        super().__init__(go)


class Meta(type):
    def __call__(cls):
        return go()


class Called(metaclass=Meta):
    pass


class Odd:
    @property
    def value(self):
        return go()

    def __getattr__(self, name):
        return go()

    def __eq__(self, other):
        return go()

    def __enter__(self):
        return go()

    def __exit__(self, *exception):
        go()
        return True

    def __del__(self):
        if getattr(state, "depth", 0) > 0:
            go()


def initializer():
    for _ in range(3):  # specialises the call
        Base()
    return Base(go)


def context_manager():
    with Odd():
        1 // 0


def torn_down():
    def owner():
        kept = Odd(), [Odd()]
        return len(kept)

    owner()

    def suspended():
        kept = Odd()
        yield kept

    for _ in suspended():
        pass
    closed = suspended()
    next(closed)
    del closed
    return go()


def dying_code():
    if not seldom(.2):
        return go()
    code = compile("def f():\n  return 1\nf()\n", "<dying %d>" % state.random.randrange(9), "exec")
    watched = weakref.ref(code, lambda _: go())
    names = {}
    exec(code, names)
    names["f"].__code__ = several_lines.__code__
    del code
    return go(), watched


source = "%sdef f(go):\n%s  return go()\nresult = f(go)\n"


def executed():
    names = {"go": go}
    blank = state.random.randrange
    exec(compile(source % ("\n" * blank(40), "\n" * blank(40)), "<made>", "exec"), names)


def evaluated():
    return eval("\n(go())" if seldom(.5) else "go()", {"go": go})


compare_function = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
sort = ctypes.CDLL(None).qsort
sort.restype = None


def called_back_from_c():
    def compare(one, other):
        go()
        return 0

    sort((ctypes.c_int * 2)(1, 2), 2, 4, compare_function(compare))


def raised():
    try:
        raise KeyError
    except KeyError:
        try:
            return go()
        finally:
            go()


def recursion():
    def again(count, one=1, two=2):
        three = count
        return go() if count == 0 else again(count - 1)

    return again(state.random.randrange(5, 90))


def decorated():
    count = 5

    def decorate(function):
        @functools.wraps(function)
        def inner(*values):
            nonlocal count
            count += 1
            return function(*values)

        return inner

    @decorate
    def function():
        return go()

    return function()


def ünï_函数_𝔵():
    return go()


exec(compile("def in_odd_file():\n\n  return go()\n", "./pfad-ü-文件-\U0001F600/\udc80x.py", "exec"))
exec(compile("def long():\n" + "  a = 1\n" * 3000 + "  return go()\n" + "  b = 2\n" * 500, "<long>", "exec"))
exec(compile("def lines_backward(take):\n  return take(\n" + "\n" * 400 + "    go(),\n    1)\n", "<backward>", "exec"))


# Kept for ever: 3.8 crashes where one is replaced while it is being called.
def trace_nothing(frame, event, value):
    return trace_nothing


def profiled():
    if instruments_at_cost and not seldom(.03):
        return go()
    sys.setprofile(trace_nothing)
    try:
        return go()
    finally:
        sys.setprofile(None)


def traced():
    if instruments_at_cost and not seldom(.03):
        return go()
    before = sys.gettrace()  # up to 3.9, frames that have been traced tell an old line once nothing traces them
    sys.settrace(trace_nothing)
    try:
        return go()
    finally:
        sys.settrace(before)


def on_a_thread():
    if not seldom(.02):
        return go()
    depth = state.depth

    def run():
        state.depth = depth
        go()

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()


def event_loop():
    if not seldom(.01):
        return go()

    async def one(depth):
        await asyncio.sleep(0)
        state.depth = depth
        return go()

    async def both():
        return await asyncio.gather(one(state.depth), one(1))

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(both())


# What traces and what runs a loop is the thread's, not the greenlet's.
def may_switch():
    return state.switches and not (sys.gettrace() or sys.getprofile() or asyncio._get_running_loop())


def greenlet_of_its_own():
    try:
        while may_switch():
            state.depth = state.random.randrange(1, 6)
            go()
            suspend()
    except (RecursionError, greenlet.GreenletExit):
        pass


# Its part of the C stack is copied away, and comes back when others have written where it was, above it too.
def suspend():
    if may_switch() and greenlet.getcurrent().parent is not None:
        greenlet.getcurrent().parent.switch()
        state.switched += 1
    return go()


# Each is in `suspended`, or runs, or is a parent of the one that runs.
def greenlets():
    if not may_switch() or not seldom(.3):
        return go()
    if state.greenlets < 6:
        state.greenlets += 1
        state.suspended.append(greenlet.greenlet(greenlet_of_its_own))
    if not state.suspended:
        return go()
    resumed = state.suspended.pop(state.random.randrange(len(state.suspended)))
    resumed.parent = greenlet.getcurrent()
    resumed.switch()
    if resumed.dead:
        state.greenlets -= 1
    else:
        state.suspended.append(resumed)
    return go()


def end_greenlets():
    state.switches = False
    state.depth = 0
    for each in state.suspended:
        each.parent = greenlet.getcurrent()
        each.throw()


steps = [several_lines, keywords, generator, coroutine, asynchronous_generator, initializer, Derived, Called,
         context_manager, torn_down, dying_code, executed, evaluated, called_back_from_c, raised, recursion, decorated,
         ünï_函数_𝔵, in_odd_file, long, lambda: lines_backward(lambda a, b: a), profiled, traced, on_a_thread,
         event_loop, greenlets, suspend, lambda: Odd().value, lambda: Odd().missing, lambda: Odd() == 3,
         lambda: [go() for _ in (1,)], lambda: {key: go() for key in (1,)}, lambda: list(go() for _ in (1,)),
         lambda: list(map(lambda _: go(), (1,))), lambda: sorted([1], key=lambda _: go()), functools.partial(go),
         lambda: functools.reduce(lambda a, b: go(), (1, 2))]


def run_checks(seed, done):
    state.random.seed(seed)
    state.switches = greenlet is not None
    while state.count < total // 2:
        state.depth = state.random.randrange(1, 9)
        try:
            go()
        except RecursionError:
            pass
    end_greenlets()
    done.append((state.count, state.switched))


def make_code():
    for i in range(sys.maxsize):
        if stop:
            return
        exec(compile(source % ("\n" * (i % 17), "\n" * (i % 5)), "<made>", "exec"), {"go": int})
        if i % 20 == 0:
            time.sleep(.0005)


def collect_garbage():
    while not stop:
        loop = []
        loop.append(loop)
        del loop
        gc.collect()
        time.sleep(.02)


def look_at_frames():
    while not stop:
        for frame in list(sys._current_frames().values()):
            for _ in range(300):
                if frame is None:
                    break
                frame.f_lineno, frame.f_code.co_name, frame.f_lasti
                frame = frame.f_back
        time.sleep(.001)


def begin_threads():
    while not stop:
        threads = [threading.Thread(target=sum, args=(range(200),)) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        time.sleep(.002)


def toggle_events():
    monitoring = sys.monitoring
    monitoring.use_tool_id(3, "noise")
    events = monitoring.events
    for event in (events.LINE, events.PY_START, events.INSTRUCTION):
        monitoring.register_callback(3, event, lambda *values: None)
    while not stop:
        for chosen, pause in ((events.LINE | events.PY_START, .01), (events.INSTRUCTION, .003), (0, .05)):
            monitoring.set_events(3, chosen)
            time.sleep(pause)


def toggle_evaluator():
    while not stop:
        for chosen, pause in ((1, .02), (0, .005)):
            held.checker_evaluate_frames(chosen)
            time.sleep(pause)


is_free_threaded = not getattr(sys, "_is_gil_enabled", lambda: True)()
noise = [make_code, collect_garbage, begin_threads]
# By itself that crashes a free-threaded interpreter, and in 3.11 it waits for ever for a thread that begins or ends, and
# takes any object for the caller of a frame.
if not is_free_threaded and sys.version_info[:2] != (3, 11):
    noise.append(look_at_frames)
if sys.version_info >= (3, 12):
    noise.append(toggle_events)
if "evaluator" in sys.argv:
    noise.append(toggle_evaluator)

stack_check.begin()
sys.setswitchinterval(2e-5)
signal.signal(signal.SIGALRM, lambda *_: leaf())
signal.setitimer(signal.ITIMER_REAL, .01, .01)
restless = [threading.Thread(target=each, daemon=True) for each in noise]
done = []
checkers = [threading.Thread(target=run_checks, args=(seed, done)) for seed in range(2)]
for thread in restless + checkers:
    thread.start()
while any(thread.is_alive() for thread in checkers):
    time.sleep(.05)
signal.setitimer(signal.ITIMER_REAL, 0)
stop = True
for thread in restless:
    thread.join()
assert len(done) == 2, "a checking thread ended early"
checks, switched = map(sum, zip(*done))
stack_check.finish("%d checks, %d greenlets came back, %d frames evaluated apart," % (
    checks, switched, free.checker_evaluated()))
