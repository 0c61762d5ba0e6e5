"""What the walk through the schemas has to be told: other names, and fields that are left.

Every entry is true, or a test says that it is not.
"""

from __future__ import annotations

from typing import Final

# Objects whose model has another name. Version 0 stands for both.
MODELS: Final[dict[tuple[int, str], str]] = {
    (1, "AvailableCommand"): "Command",
    (1, "UnstructuredCommandInput"): "CommandInput",
    (2, "TextCommandInput"): "CommandInput",
    (1, "AuthMethodAgent"): "AuthMethodOther",
    (2, "AuthMethod+AuthMethodTerminal"): "AuthMethodTerminal",
    (2, "AuthMethod+AuthMethodAgent"): "AuthMethodOther",
    (2, "AuthMethod*"): "AuthMethodOther",
    (0, "SessionSystemPromptCapabilities"): "SystemPromptCapabilities",
    (0, "SessionSystemPromptModeCapabilities"): "SystemPromptModes",
    (1, "ResumeSessionResponse"): "LoadSessionResponse",
    (0, "ForkSessionResponse"): "NewSessionResponse",
    (0, "SessionInfo"): "KnownSession",
    (2, "ToolCallCapabilities"): "CancelCapability",
    (2, "TerminalCapabilities"): "CancelCapability",
    (2, "SubagentSessionCapabilities"): "CancelCapability",
    (0, "ElicitationSessionScope*"): "OtherElicitation",
    (0, "ElicitationRequestScope*"): "OtherElicitation",
    (2, "BackgroundWork*"): "BackgroundOther",
    (0, "SessionConfigOption+SessionConfigSelect"): "SelectOption",
    (0, "SessionConfigOption+SessionConfigBoolean"): "BooleanOption",
    (2, "SessionConfigOption*"): "OtherOption",
    (1, "TerminalOutputRequest"): "TerminalRequest",
    (1, "WaitForTerminalExitRequest"): "TerminalRequest",
    (1, "KillTerminalRequest"): "TerminalRequest",
    (1, "ReleaseTerminalRequest"): "TerminalRequest",
    (2, "UserMessage"): "Message",
    (2, "AgentMessage"): "Message",
    (2, "AgentThought"): "Message",
    (2, "RunningStateUpdate"): "StateUpdate",
    (2, "IdleStateUpdate"): "StateUpdate",
    (2, "IdleStateUpdate*"): "StateUpdate",
    (2, "IdleStateUpdate+ErrorStopReason"): "StateUpdate",
    (2, "RequiresActionStateUpdate"): "StateUpdate",
    (2, "UnknownStateUpdate"): "StateUpdate",
    (2, "StateUpdate*"): "StateUpdate",
    (2, "Error"): "StateError",
    (2, "DiffChange+DiffPathChange"): "PathChange",
    (2, "DiffChange+DiffPathPairChange"): "PathPairChange",
    (2, "DiffChange*"): "OtherChange",
    (2, "PlanUpdateContent+PlanItems"): "PlanItems",
    (0, "ElicitationFormMode+ElicitationSessionScope"): "ElicitationForm",
    (0, "ElicitationFormMode+ElicitationRequestScope"): "ElicitationForm",
    (0, "ElicitationUrlMode+ElicitationSessionScope"): "ElicitationUrl",
    (0, "ElicitationUrlMode+ElicitationRequestScope"): "ElicitationUrl",
    (2, "SessionMessageChunk"): "ContentChunk",
}

# Objects that no model reads, and what is done with them.
NO_MODEL: Final[dict[tuple[int, str], str]] = {
    (1, "SessionNotification"): "the envelope of every update is opened without a model",
    (2, "UpdateSessionNotification"): "the envelope of every update is opened without a model",
    (2, "PlanUpdateContent*"): "a plan that is no list is passed on as it came",
    (2, "AvailableCommand*"): "what is no command cannot be offered as one",
}

# Objects of unknown kinds that are not even kept beside what was read.
DROPPED: Final[dict[tuple[int, str], str]] = {
    (2, "AvailableCommandInput*"): "an argument that is no text cannot be typed",
}

# Fields that are passed over. The raw message is kept beside what was read of it.
NOT_READ: Final[dict[tuple[int, str, str], str]] = {
    (0, "*", "annotations"): "hints for showing a block that no editor has a place for",
    (2, "ResourceLink", "icons"): "no editor shows them in a text",
    (2, "DiffChange+DiffPathChange", "mimeType"): "the file type says whether it is text",
    (2, "DiffChange+DiffPathPairChange", "mimeType"): "the file type says whether it is text",
    (2, "DiffChange*", "mimeType"): "the file type says whether it is text",
    (1, "SessionConfigSelectGroup", "group"): "a group is shown by its name, never chosen",
    (2, "SessionConfigSelectGroup", "groupId"): "a group is shown by its name, never chosen",
    (2, "AgentCapabilities", "auth"): "it has no fields yet; that one can log in, methods say",
    (2, "SubagentUpdate", "additionalDirectories"): "they matter to that session alone",
    (2, "SessionMessage", "senderMessageId"): "the message is known by its own id",
    (2, "SessionMessage", "recipientMessageId"): "the message is known by its own id",
    (2, "Error", "data"): "the words are for the user, the rest is in the raw update",
}

# Fields whose value is kept as it came, whatever is inside.
KEPT_WHOLE: Final[dict[tuple[int, str, str], str]] = {
    (0, "ElicitationFormMode+ElicitationSessionScope", "requestedSchema"): "for who draws the form",
    (0, "ElicitationFormMode+ElicitationRequestScope", "requestedSchema"): "for who draws the form",
}

# Objects that change a thing: a field that is absent stays, one that is null is cleared.
PATCHES: Final = frozenset(
    {
        (1, "ToolCallUpdate"),
        (1, "SessionInfoUpdate"),
        (2, "ToolCallUpdate"),
        (2, "UserMessage"),
        (2, "AgentMessage"),
        (2, "AgentThought"),
        (2, "TerminalUpdate"),
        (2, "SessionInfoUpdate"),
        (2, "CompactionUpdate"),
        (2, "SubagentUpdate"),
        (2, "SessionMessage"),
    }
)

# Fields that we read although no schema has them, by module and model.
NOT_IN_THE_SCHEMA: Final[dict[tuple[str, str, str], str]] = {
    ("v2", "OtherOption", "currentValue"): "an option of any kind may well have one",
    ("v2", "OtherChange", "path"): "a change of any kind may well have one",
    ("v2", "OtherChange", "oldPath"): "a change of any kind may well have one",
    ("v1_initialize", "AuthMethodOther", "type"): "agents send types of their own",
    ("v1_initialize", "AuthMethodOther", "vars"): "the variables of the type env_var",
    ("v2_initialize", "AuthMethodOther", "vars"): "the variables of the type env_var",
}

# Fields where we take more than the schema allows.
MORE_OPENLY: Final[dict[tuple[str, str, str], str]] = {
    ("v1_initialize", "InitializeResponse", "protocolVersion"): "another version is refused later",
    ("v2_initialize", "InitializeResponse", "protocolVersion"): "another version is refused later",
    ("v2_initialize", "InitializeResponse", "info"): "demanded beside capabilities, later on",
    ("model", "CancelRequestNotification", "requestId"): "version 1 allows null",
    ("model", "ElicitationForm", "sessionId"): "null counts as absent",
    ("model", "ElicitationForm", "requestId"): "version 1 allows null",
    ("model", "ElicitationUrl", "sessionId"): "null counts as absent",
    ("model", "ElicitationUrl", "requestId"): "version 1 allows null",
    ("model", "OtherElicitation", "sessionId"): "null counts as absent",
    ("model", "OtherElicitation", "requestId"): "version 1 allows null",
}

# Models of conventions that are in no schema.
OUTSIDE: Final = frozenset(
    {
        "AuthMethodMeta",
        "MetaModel",
        "OtherOption",
        "TerminalAuth",
        "TerminalEnded",
        "TerminalMade",
        "TerminalPrinted",
        "ToolCallMeta",
    }
)

# Fields that we could send and do not.
NOT_SENT: Final[dict[tuple[int, str, str], str]] = {
    (0, "*", "annotations"): "nobody here has anything to say in them",
    (2, "ResourceLink", "icons"): "files have none",
}
