"""The script that a scripted agent plays: its format, and the check that refuses a wrong one.

A script is one JSON object. Every member may be left out::

    {
      "initialize": {"manners": ["hang_on_2"], "override": {"_meta": {"x": 1}}},
      "session": {"options": [{"id": "model", "value": "fast", "choices": ["fast", "slow"]}],
                  "commands": [{"name": "plan", "description": "Plan first"}]},
      "turns": [
        [{"think": "Hm."},
         {"say": "Reading in {cwd}. ", "pieces": 3},
         {"tool": "t1", "title": "Edit a.py", "kind": "edit", "status": "pending",
          "locations": [["a.py", 3]],
          "content": [{"diff": {"path": "a.py", "old": "x = 1", "new": "x = 2"}}]},
         {"ask": "Edit a.py?", "call": {"tool": "t1"}, "options": ["allow_once", "reject_once"],
          "then": {"allow_once": [{"write": "a.py", "text": "x = 2"},
                                  {"tool": "t1", "status": "completed"}],
                   "reject_once": [{"tool": "t1", "status": "failed"}]},
          "cancelled": ["wait_cancel"]},
         {"end": "end_turn"}]
      ]
    }

Members of the script:

``start``
    Steps run before the first message is read; only those that need no session.
``initialize``
    ``manners``: a list of faults seen in real agents (``MANNERS``). ``override``: laid over
    the result, member by member; ``null`` takes a member out. ``offers``: what else the agent
    says that it can do (``OFFERS``). ``login``: ``true`` answers -32000 to ``session/new``
    until the client has logged in; or ``{"methods", "needed_for"?, "kept_in"?}``:
    ``needed_for`` lists the methods that are answered so, ``kept_in`` is a file that is there
    while the user is logged in. A method is ``{"id", "name", "kind"?, "description"?}``; of
    kind ``agent`` (default) it may have ``steps``, of which a ``fail`` makes the login fail,
    of kind ``terminal`` ``env`` and ``fails`` (an exit code), of kind ``env_var``
    ``variables``: with all of them in its environment the agent is logged in.
``session``
    ``id`` (several sessions get ``-2``, ``-3`` ... behind it), ``options``, ``modes``
    (``{"current", "available"}``), ``commands``,
    ``before`` and ``after``: steps before and after the answer to ``session/new``; a ``fail``
    in ``before`` is that answer. ``again``: steps before ``session/load``, ``session/resume``
    and ``session/fork`` are answered, in the same way. ``replay``: when ``session/load`` tells
    a session again, ``before`` (default) or ``after`` its answer, or half and half, ``both``.
    ``kept_in``: a file that keeps all sessions from one process to the next.
    An option is ``{"id", "value", "name"?, "category"?, "choices"?}``; no choices: a boolean.
``prompt``
    ACP 2 only. The order of what begins a turn, of ``echo``, ``answer`` and ``state``; what
    is left out is not sent.
``cancel``
    ``"heed"`` (default): ``session/cancel`` ends the turn at its next step.
    ``"ignore"``: only ``wait_cancel`` takes notice.
``ignore``
    Any of ``"eof"`` (lives on when its input ends) and ``"term"`` (SIGTERM).
``ids``
    ``"numbers"`` from 0 (default) or ``"words"`` for the ids of its own requests.
``turns``
    One list of steps for each prompt, in order of arrival; the last one repeats. A prompt
    that comes while another runs waits for it.

A step is an object with exactly one of the words below, or the bare word. Paths may be
relative to the session's folder and are absolute on the wire. ``{cwd}`` in any string is that
folder; a step with ``into: NAME`` makes its outcome available as ``{NAME}``.

====================  ======================================================================
say, think, user      text of a message; ``pieces`` n, ``message`` id (``null``: none at all;
                      left out: none in ACP 1, one of its own in ACP 2)
plan                  entries: texts or ``{content, priority, status}``; ``id``
tool                  tool call id; ``title kind status name locations content raw_input
                      raw_output``; ``as``: ``"call"`` or ``"update"`` (ACP 1; default: by
                      whether the id is new). A location is ``path``, ``[path, line]`` or as
                      on the wire. Content: a text, ``{"diff": {path, old, new}}``,
                      ``{"terminal": id}`` or an object of ACP. A diff without ``old`` adds,
                      with ``new: null`` deletes, with ``from`` moves; ``piece: true``: the
                      texts are pieces of the file (ACP 2 looks them up on the disk). A list
                      of diffs is one content in ACP 2, of several files
ask                   title of a permission request; ``call``: a tool step, or ``command`` and
                      ``cwd``; ``options``: kinds or ``{id, name, kind}``; ``description``;
                      ``then``: steps for each chosen id; ``cancelled``, ``failed``: steps;
                      ``id``; ``wait: false`` goes on at once, and the steps run when the
                      answer is there (two asks at once)
visit                 a page that the user is asked to open; ``message``, ``link`` (the id of
                      the elicitation), ``wait``, and the steps ``accepted``, ``declined``,
                      ``cancelled``, ``failed``
form                  schema of a form that the user is asked to fill in; ``message``,
                      ``call`` (a tool call id), ``into`` (the values, as JSON), ``wait``,
                      and steps as for ``visit``
complete              link of a page whose visit is over
withdraw              id of an open ask, which is cancelled with ``$/cancel_request``
read                  path; ``line``, ``limit``, ``into``, ``via``, ``failed``
write                 path; ``text``, ``via``, ``failed``. ``via``: ``"client"``, ``"disk"``;
                      default: the client in ACP 1 if it offers that, else the disk. To the
                      disk also ``encoding`` (of the text) or ``hex`` (bytes, in its place),
                      and ``renamed: true``: a new file is put in the place of the old one
remove                path of a file that is deleted from the disk
move                  path of a file on the disk; ``to``
chmod                 path; ``bits``: the mode in octal digits
symlink               path of a symbolic link that is made; ``to``, as it stands in the link
run                   argv of a program that the agent runs without telling; ``into`` (output)
terminal              argv; ``id``, ``shown_in`` (a tool call), ``limit`` (bytes), ``wait``,
                      ``release``, ``into`` (output). ACP 1: the client's terminal, if it
                      offers that; ACP 2: the agent's own
wait_cancel           waits for ``session/cancel``, runs the steps given, ends ``cancelled``
state                 a state of ACP 2; ``fields`` of the update. Nothing in ACP 1
commands              as in ``session``
session_title         the new title
set_option            option id; ``value``; tells the client
mode                  mode id; tells the client
usage                 ``[used, size]``
notice                title; ``severity``, ``description``
update                an update as on the wire
notify                method; ``params``
request               method; ``params``, ``wait``, ``into`` (result as JSON), ``failed``
raw                   text written to stdout as it is, no newline added
big_line              bytes of one line that carries an agent message
chunks                number of agent message chunks; ``text``, where ``{n}`` counts from 0
stderr, flood_stderr  text; number of bytes
late                  method of the client; waits till such a message came in since the turn
                      began. First in a turn of ACP 2 it holds the prompt back
gate                  path; waits till there is such a file
sleep                 seconds, or ``"forever"``
spawn                 seconds that a child of the agent sleeps, which holds the agent's streams
                      open; ``own_session``, ``into`` (pid)
ignore_eof            lives on when its input ends
close_stdout          closes standard output
die, kill             exits with this code; sends itself this signal
end                   stop reason
fail                  ``{code, message, data?}``: the turn's error
====================  ======================================================================

Invariant: a script that ``check`` lets through has no unknown word in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from acpls.testing.shapes import OFFERS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MANNERS: Final = {
    "v1_shape_says_2": "answers in the shape of ACP 1, with protocolVersion 2",
    "error_on_2": "answers -32603 when asked for 2",
    "unsupported_2": "answers -32022 with the supported list [1] when asked for 2",
    "die_on_2": "exits with code 3 when asked for 2",
    "hang_on_2": "never answers when asked for 2",
    "hang": "never answers initialize",
    "refuse_again": "answers -32600 to a second initialize",
    "hang_again": "never answers a second initialize",
    "no_resume": "says that it has session/resume, and answers it with -32601",
    "load_anything": "answers session/load of an unknown id with {}, and has an empty session",
}

# What each step takes beside its own word.
STEPS: Final[Mapping[str, frozenset[str]]] = {
    word: frozenset(members.split())
    for word, members in {
        "say": "pieces message",
        "think": "pieces message",
        "user": "pieces message",
        "plan": "id",
        "tool": "title kind status name locations content raw_input raw_output as",
        "ask": "call command cwd options description then cancelled failed id wait",
        "visit": "message link wait accepted declined cancelled failed",
        "form": "message call into wait accepted declined cancelled failed",
        "complete": "",
        "withdraw": "",
        "read": "line limit into via failed",
        "write": "text via failed encoding hex renamed",
        "remove": "",
        "move": "to",
        "chmod": "bits",
        "symlink": "to",
        "run": "into",
        "terminal": "id shown_in limit wait release into",
        "wait_cancel": "",
        "state": "fields",
        "commands": "",
        "session_title": "",
        "set_option": "value",
        "mode": "",
        "usage": "",
        "notice": "severity description",
        "update": "",
        "notify": "params",
        "request": "params wait into failed",
        "raw": "",
        "big_line": "",
        "chunks": "text",
        "stderr": "",
        "flood_stderr": "",
        "late": "",
        "gate": "",
        "sleep": "",
        "spawn": "own_session into",
        "ignore_eof": "",
        "close_stdout": "",
        "die": "",
        "kill": "",
        "end": "",
        "fail": "",
    }.items()
}
BARE: Final = frozenset({"wait_cancel", "ignore_eof", "close_stdout", "end", "die"})
_AT_START: Final = frozenset(
    {
        *("raw", "stderr", "flood_stderr", "notify", "gate", "sleep"),
        *("spawn", "ignore_eof", "close_stdout", "die", "kill"),
    }
)
# Steps of a login may ask for something, and wait.
_AT_LOGIN: Final = _AT_START | {
    *("visit", "form", "complete", "request", "late", "wait_cancel", "fail"),
}
_BRANCHES: Final = ("cancelled", "failed", "accepted", "declined")
_MEMBERS: Final[Mapping[str, frozenset[str]]] = {
    "initialize": frozenset(("manners", "override", "offers", "login")),
    "session": frozenset(
        {
            *("id", "options", "modes", "commands", "kept_in"),
            *("before", "after", "again", "replay"),
        }
    ),
}
_LOGIN: Final = frozenset(("methods", "needed_for", "kept_in"))
_LOGIN_METHOD: Final = frozenset(
    {"id", "name", "kind", "description", "steps", "env", "fails", "variables"}
)
_REPLAY: Final = ("before", "after", "both")
_PLAIN_MEMBERS: Final = frozenset(("start", "prompt", "cancel", "ignore", "ids", "turns"))


class ScriptError(ValueError):
    """The script is wrong; ``str()`` says where and how, in one line."""


def verb(step: Any) -> str:
    """The word of a step that was checked."""
    return step if isinstance(step, str) else next(key for key in step if key in STEPS)


def check(script: Any) -> None:
    """Raises ``ScriptError`` when the script is not as this module says."""
    if not isinstance(script, dict):
        raise ScriptError("script: must be an object")
    for name, value in script.items():
        if name in _MEMBERS:
            _only(name, value, _MEMBERS[name])
        elif name not in _PLAIN_MEMBERS:
            raise ScriptError(f"script: unknown member {name!r}")
    _words("initialize.manners", script.get("initialize", {}).get("manners", []), MANNERS)
    _words("initialize.offers", script.get("initialize", {}).get("offers", []), OFFERS)
    _words("session.replay", [script.get("session", {}).get("replay", "before")], _REPLAY)
    _check_login(script.get("initialize", {}).get("login", False))
    _words("prompt", script.get("prompt", []), ("echo", "answer", "state"))
    _words("cancel", [script.get("cancel", "heed")], ("heed", "ignore"))
    _words("ignore", script.get("ignore", []), ("eof", "term"))
    _words("ids", [script.get("ids", "numbers")], ("numbers", "words"))
    turns = script.get("turns", [])
    if not isinstance(turns, list):
        raise ScriptError("turns: must be a list")
    for at, turn in enumerate(turns):
        _check_steps(f"turns[{at}]", turn)
    for when in ("before", "after", "again"):
        _check_steps(f"session.{when}", script.get("session", {}).get(when, []))
    _check_nowhere("start", script.get("start", []), _AT_START)


def _check_login(login: Any) -> None:
    if isinstance(login, bool):
        return
    _only("login", login, _LOGIN)
    for at, method in enumerate(login.get("methods", [])):
        where = f"login.methods[{at}]"
        _only(where, method, _LOGIN_METHOD)
        for name in ("id", "name"):
            if name not in method:
                raise ScriptError(f"{where}: needs {name!r}")
        _words(where, [method.get("kind", "agent")], ("agent", "terminal", "env_var"))
        _check_nowhere(f"{where}.steps", method.get("steps", []), _AT_LOGIN)


def _check_nowhere(where: str, steps: Any, known: frozenset[str]) -> None:
    _check_steps(where, steps)
    for at, step in enumerate(steps):
        if verb(step) not in known:
            raise ScriptError(f"{where}[{at}]: {verb(step)!r} needs a session")


def _only(where: str, value: Any, known: frozenset[str]) -> None:
    if not isinstance(value, dict):
        raise ScriptError(f"{where}: must be an object")
    for name in value:
        if name not in known:
            raise ScriptError(f"{where}: unknown member {name!r}")


def _words(where: str, value: Any, known: Any) -> None:
    if not isinstance(value, list):
        raise ScriptError(f"{where}: must be a list")
    for word in value:
        if word not in known:
            raise ScriptError(f"{where}: unknown word {word!r}")


def _check_steps(where: str, steps: Any) -> None:
    if not isinstance(steps, list):
        raise ScriptError(f"{where}: must be a list of steps")
    for at, step in enumerate(steps):
        _check_step(f"{where}[{at}]", step)


def _check_step(where: str, step: Any) -> None:
    if isinstance(step, str):
        if step not in BARE:
            raise ScriptError(f"{where}: unknown step {step!r}")
        return
    if not isinstance(step, dict):
        raise ScriptError(f"{where}: must be an object or a word")
    words = [name for name in step if name in STEPS]
    if len(words) != 1:
        names = ", ".join(map(repr, words or step))
        raise ScriptError(f"{where}: {'two steps in one' if words else 'unknown step'}: {names}")
    for name in step:
        if name not in STEPS[words[0]] and name != words[0]:
            raise ScriptError(f"{where}: {words[0]!r} takes no {name!r}")
    for place, branch in _branches(step, words[0]):
        _check_steps(f"{where}.{place}", branch)


def _branches(step: Mapping[str, Any], word: str) -> Iterator[tuple[str, Any]]:
    for name in _BRANCHES:
        if name in step:
            yield name, step[name]
    then = step.get("then", {})
    if not isinstance(then, dict):
        yield "then", None
    else:
        yield from ((f"then.{option}", steps) for option, steps in then.items())
    if word == "wait_cancel" and step[word] is not None:
        yield word, step[word]
    if word == "ask" and "call" in step:
        yield "call", [step["call"]]
