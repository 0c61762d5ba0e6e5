"""Every shape that we read is the published one: names, required fields, leniency, tags."""

from __future__ import annotations

from types import NoneType
from typing import TYPE_CHECKING, Any, get_args

import pytest
from pydantic import Tag, WrapValidator

from acp_schema import DATA, definitions
from acpls.client.v1 import DialectV1
from acpls.client.v2 import DialectV2
from acpls.wire import model, v1, v2

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

# Each model, and the definitions whose fields it puts together.
COMMON: list[tuple[type[model.Model], str]] = [
    (model.TextContent, "TextContent"),
    (model.ImageContent, "ImageContent"),
    (model.AudioContent, "AudioContent"),
    (model.ResourceLink, "ResourceLink"),
    (model.TextResourceContents, "TextResourceContents"),
    (model.BlobResourceContents, "BlobResourceContents"),
    (model.EmbeddedResource, "EmbeddedResource"),
    (model.Content, "Content"),
    (model.Terminal, "Terminal"),
    (model.ToolCallLocation, "ToolCallLocation"),
    (model.PermissionOption, "PermissionOption"),
    (model.PlanEntry, "PlanEntry"),
    (model.SessionConfigSelectOption, "SessionConfigSelectOption"),
    (model.SessionConfigSelectGroup, "SessionConfigSelectGroup"),
    (model.SessionInfoUpdate, "SessionInfoUpdate"),
    (model.Cost, "Cost"),
    (model.UsageUpdate, "UsageUpdate"),
    (model.Notice, "Notice"),
    (model.Implementation, "Implementation"),
    (model.CancelRequestNotification, "CancelRequestNotification"),
]
V1: list[tuple[type[model.Model], str]] = [
    (model.Command, "AvailableCommand"),
    (model.CommandInput, "UnstructuredCommandInput"),
    (v1.PromptCapabilities, "PromptCapabilities"),
    (v1.SessionCapabilities, "SessionCapabilities"),
    (v1.AgentCapabilities, "AgentCapabilities"),
    (v1.AuthMethod, "AuthMethodAgent"),
    (v1.AuthMethod, "AuthMethodTerminal"),
    (v1.InitializeResponse, "InitializeResponse"),
    (v1.SelectOption, "SessionConfigOption SessionConfigSelect"),
    (v1.BooleanOption, "SessionConfigOption SessionConfigBoolean"),
    (v1.OtherOption, "SessionConfigOption SessionConfigSelect"),
    (v1.SessionMode, "SessionMode"),
    (v1.SessionModeState, "SessionModeState"),
    (v1.NewSessionResponse, "NewSessionResponse"),
    (v1.SetSessionConfigOptionResponse, "SetSessionConfigOptionResponse"),
    (v1.PromptResponse, "PromptResponse"),
    (v1.ContentChunk, "ContentChunk"),
    (v1.Diff, "Diff"),
    (v1.ToolCallUpdate, "ToolCallUpdate"),
    (v1.ToolCall, "ToolCall"),
    (v1.Plan, "Plan"),
    (v1.AvailableCommandsUpdate, "AvailableCommandsUpdate"),
    (v1.CurrentModeUpdate, "CurrentModeUpdate"),
    (v1.ConfigOptionUpdate, "ConfigOptionUpdate"),
    (v1.RequestPermissionRequest, "RequestPermissionRequest"),
    (v1.ReadTextFileRequest, "ReadTextFileRequest"),
    (v1.WriteTextFileRequest, "WriteTextFileRequest"),
    (v1.EnvVariable, "EnvVariable"),
    (v1.CreateTerminalRequest, "CreateTerminalRequest"),
    (v1.TerminalRequest, "TerminalOutputRequest"),
    (v1.TerminalRequest, "WaitForTerminalExitRequest"),
    (v1.TerminalRequest, "KillTerminalRequest"),
    (v1.TerminalRequest, "ReleaseTerminalRequest"),
]
V2: list[tuple[type[model.Model], str]] = [
    (model.TerminalExitStatus, "TerminalExitStatus"),
    (model.Command, "Command"),
    (model.CommandInput, "TextCommandInput"),
    (v2.PromptCapabilities, "PromptCapabilities"),
    (v2.SessionCapabilities, "SessionCapabilities"),
    (v2.AgentCapabilities, "AgentCapabilities"),
    (v2.AuthMethod, "AuthMethodAgent"),
    (v2.AuthMethod, "AuthMethodTerminal"),
    (v2.InitializeResponse, "InitializeResponse"),
    (v2.SelectOption, "SessionConfigOption SessionConfigSelect"),
    (v2.BooleanOption, "SessionConfigOption SessionConfigBoolean"),
    (v2.OtherOption, "SessionConfigOption SessionConfigSelect"),
    (v2.NewSessionResponse, "NewSessionResponse"),
    (v2.SetSessionConfigOptionResponse, "SetSessionConfigOptionResponse"),
    (v2.PromptResponse, "PromptResponse"),
    (v2.ContentChunk, "ContentChunk"),
    (v2.Message, "UserMessage"),
    (v2.Message, "AgentMessage"),
    (v2.Message, "AgentThought"),
    (v2.StateUpdate, "StateUpdate IdleStateUpdate ErrorStopReason"),
    (v2.StateError, "Error"),
    (v2.PathChange, "DiffChange DiffPathChange"),
    (v2.PathPairChange, "DiffChange DiffPathPairChange"),
    (v2.OtherChange, "DiffChange DiffPathPairChange"),
    (v2.DiffPatch, "DiffPatch"),
    (v2.Diff, "Diff"),
    (v2.ToolCallUpdate, "ToolCallUpdate"),
    (v2.ToolCallContentChunk, "ToolCallContentChunk"),
    (v2.TerminalOutput, "TerminalOutput"),
    (v2.TerminalUpdate, "TerminalUpdate"),
    (v2.TerminalOutputChunk, "TerminalOutputChunk"),
    (v2.PlanItems, "PlanItems"),
    (v2.PlanUpdate, "PlanUpdate"),
    (v2.AvailableCommandsUpdate, "AvailableCommandsUpdate"),
    (v2.ConfigOptionUpdate, "ConfigOptionUpdate"),
    (v2.ToolCallPermissionSubject, "ToolCallPermissionSubject"),
    (v2.CommandPermissionSubject, "CommandPermissionSubject"),
    (v2.RequestPermissionRequest, "RequestPermissionRequest"),
]
EVERY = [
    *((1, *pair) for pair in COMMON + V1),
    *((2, *pair) for pair in COMMON + V2),
]

# Where we read on purpose what the schema does not have, or take what it does not allow.
NOT_IN_THE_SCHEMA = {(v1.NewSessionResponse, "models")}
READ_MORE_OPENLY = {
    (v1.OtherOption, "currentValue"),
    (v2.OtherOption, "currentValue"),
    (v2.OtherChange, "path"),
    (v2.OtherChange, "oldPath"),
    # Demanded beside ``capabilities``, where it is read.
    (v2.InitializeResponse, "info"),
}

# Without a word in the schema about these, a field has the value that it has.
MODELS_OUTSIDE = {
    v1.SessionModel,
    v1.SessionModelState,
    v1.MetaModel,
    v1.TerminalMade,
    v1.TerminalPrinted,
    v1.TerminalEnded,
    v1.ToolCallMeta,
}


def properties(version: int, names: str) -> tuple[dict[str, Any], set[str]]:
    """The fields of some definitions taken together, and which of them are required."""
    fields: dict[str, Any] = {}
    required: set[str] = set()
    for name in names.split():
        it = definitions(version)[name]
        variants = it.get("oneOf", it.get("anyOf", []))
        for variant in variants:
            # Tags stand in the variants; what the fields proper say comes after.
            for key, field in variant.get("properties", {}).items():
                fields.setdefault(key, field)
        fields |= it.get("properties", {})
        required |= set(it.get("required", ()))
        if variants:
            required |= set.intersection(*(set(x.get("required", ())) for x in variants))
    return fields, required


def wraps(field: FieldInfo) -> set[object]:
    return {x.func for x in field.metadata if isinstance(x, WrapValidator)}


def parts(annotation: Any) -> list[Any]:
    """All types and marks inside an annotation, models not entered."""
    found = [annotation]
    for part in get_args(annotation):
        found += parts(part)
    return found


def test_the_copies_are_small() -> None:
    sizes = [(DATA / f"acp-schema-v{version}.json").stat().st_size for version in (1, 2)]
    assert max(sizes) < 200_000


@pytest.mark.parametrize(
    ("version", "shape", "names"), EVERY, ids=lambda x: x if isinstance(x, str) else None
)
def test_fields_are_those_of_the_schema(version: int, shape: type[model.Model], names: str) -> None:
    schema, required = properties(version, names)
    for name, field in shape.model_fields.items():
        wire_name = field.alias or name
        if (shape, wire_name) in NOT_IN_THE_SCHEMA:
            continue
        assert wire_name in schema, f"{shape.__name__}.{wire_name} is in no schema"
        if wire_name == "_meta" or (shape, wire_name) in READ_MORE_OPENLY:
            continue
        assert field.is_required() == (wire_name in required), wire_name

        marks = schema[wire_name]
        kind = parts(field.annotation)
        forgives = bool(wraps(field) & {model.default_on_error, model.empty_on_error})
        says_so = marks.get("x-deserialize-default-on-error", False)
        assert forgives == says_so or Any in kind, f"{wire_name}: leniency"

        skips = any(getattr(x, "func", None) is model.skip_on_error for x in kind)
        assert skips == marks.get("x-deserialize-skip-invalid-items", False), wire_name

        may_be_null = "null" in str(marks) or marks.get("x-deserialize-default-on-null", False)
        if may_be_null:
            assert NoneType in kind or Any in kind, f"{wire_name}: null"


def test_every_model_is_held_against_the_schema() -> None:
    held = {shape for _, shape, _ in EVERY}
    for module in (model, v1, v2):
        for it in vars(module).values():
            if isinstance(it, type) and issubclass(it, model.Model):
                is_base = bool(it.__subclasses__()) and it not in held
                assert it in held or it in MODELS_OUTSIDE or is_base, it.__name__


def tags(version: int, name: str, key: str) -> set[str]:
    it = definitions(version)[name]
    found = [x["properties"].get(key, {}) for x in it.get("oneOf", it.get("anyOf"))]
    return {x["const"] for x in found if "const" in x}


def known(union: Any) -> set[str]:
    return {x.tag for x in parts(union) if isinstance(x, Tag)} - {model.OTHER}


@pytest.mark.parametrize(
    ("version", "name", "key", "union", "unread"),
    [
        (1, "ContentBlock", "type", model.ContentBlock, set()),
        (2, "ContentBlock", "type", model.ContentBlock, set()),
        (1, "ToolCallContent", "type", v1.ToolCallContent, set()),
        (2, "ToolCallContent", "type", v2.ToolCallContent, {"session"}),
        (1, "SessionConfigOption", "type", v1.SessionConfigOption, set()),
        (2, "SessionConfigOption", "type", v2.SessionConfigOption, set()),
        (2, "AvailableCommand", "type", v2.AvailableCommand, set()),
        (2, "DiffChange", "operation", v2.DiffChange, set()),
        (2, "PlanUpdateContent", "type", v2.PlanUpdate.model_fields["plan"].annotation, set()),
        (2, "RequestPermissionSubject", "type", v2.RequestPermissionSubject, set()),
    ],
)
def test_tags_are_those_of_the_schema(
    version: int, name: str, key: str, union: Any, unread: set[str]
) -> None:
    assert tags(version, name, key) == known(union) | unread
    assert not known(union) & unread


def test_updates_read_are_those_of_the_schema() -> None:
    # The rest is passed on as it came.
    assert tags(1, "SessionUpdate", "sessionUpdate") - set(DialectV1._UPDATES) == {
        "compaction_update",
        "compaction_summary_chunk",
    }
    assert tags(2, "SessionUpdate", "sessionUpdate") - set(DialectV2._UPDATES) == {
        "compaction_update",
        "compaction_summary_chunk",
        "subagent_update",
        "session_message",
        "session_message_chunk",
    }
    assert set(DialectV1._UPDATES) < tags(1, "SessionUpdate", "sessionUpdate")
    assert set(DialectV2._UPDATES) < tags(2, "SessionUpdate", "sessionUpdate")
