"""Everything that can happen: the closed union that the hub handles.

Times are seconds of a monotonic clock and are given to ``Hub.handle`` beside the event.

Invariant: frozen values only; the rims make them, the hub alone reads them.
"""

from __future__ import annotations

from typing import TypeAlias

from acpls.events.agent import (
    AgentEnded,
    AgentEvent,
    AgentMisspoke,
    AgentReady,
    AgentStarting,
    AnswerLost,
    AskFailed,
    FileReadAsked,
    FileWriteAsked,
    FormAsked,
    LeftOut,
    LinkAsked,
    LinkDone,
    Notified,
    QuestionAsked,
    Replied,
    RequestId,
    RequestWithdrawn,
    SessionTold,
)
from acpls.events.editor import (
    BufferChanged,
    BufferClosed,
    BufferOpened,
    BufferSaved,
    CommandAbandoned,
    CommandGiven,
    DocumentSaved,
    EditApplied,
    EditorReady,
    EditRefused,
    FocusChanged,
    ProgramRan,
    QuestionPut,
    QuestionShown,
    SettingsChanged,
)
from acpls.events.world import (
    FIRST,
    SAME,
    UTF_8,
    Disk,
    Earlier,
    FileNoticed,
    FileRead,
    FilesSynced,
    FileWritten,
    Form,
    HeadCompared,
    HeadMoved,
    PermissionKept,
    PermissionsRead,
    ReviewLoaded,
    StoredRead,
    TimePassed,
)

__all__ = [
    "FIRST",
    "SAME",
    "UTF_8",
    "AgentEnded",
    "AgentEvent",
    "AgentMisspoke",
    "AgentReady",
    "AgentStarting",
    "AnswerLost",
    "AskFailed",
    "BufferChanged",
    "BufferClosed",
    "BufferOpened",
    "BufferSaved",
    "CommandAbandoned",
    "CommandGiven",
    "Disk",
    "DocumentSaved",
    "Earlier",
    "EditApplied",
    "EditRefused",
    "EditorReady",
    "Event",
    "FileNoticed",
    "FileRead",
    "FileReadAsked",
    "FileWriteAsked",
    "FileWritten",
    "FilesSynced",
    "FocusChanged",
    "Form",
    "FormAsked",
    "HeadCompared",
    "HeadMoved",
    "LeftOut",
    "LinkAsked",
    "LinkDone",
    "Notified",
    "PermissionKept",
    "PermissionsRead",
    "ProgramRan",
    "QuestionAsked",
    "QuestionPut",
    "QuestionShown",
    "Replied",
    "RequestId",
    "RequestWithdrawn",
    "ReviewLoaded",
    "SessionTold",
    "SettingsChanged",
    "StoredRead",
    "TimePassed",
]

Event: TypeAlias = (
    AgentStarting
    | AgentReady
    | AgentEnded
    | AgentMisspoke
    | SessionTold
    | Notified
    | LeftOut
    | Replied
    | AskFailed
    | QuestionAsked
    | FormAsked
    | LinkAsked
    | LinkDone
    | RequestWithdrawn
    | AnswerLost
    | FileReadAsked
    | FileWriteAsked
    | EditorReady
    | SettingsChanged
    | BufferOpened
    | BufferChanged
    | BufferSaved
    | BufferClosed
    | FocusChanged
    | CommandGiven
    | CommandAbandoned
    | QuestionPut
    | QuestionShown
    | ProgramRan
    | EditApplied
    | EditRefused
    | DocumentSaved
    | FileRead
    | FileWritten
    | FileNoticed
    | FilesSynced
    | HeadMoved
    | HeadCompared
    | StoredRead
    | ReviewLoaded
    | PermissionsRead
    | PermissionKept
    | TimePassed
)
