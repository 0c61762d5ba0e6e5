"""What fake editors claim in ``initialize``."""

from __future__ import annotations

from typing import Any, Final

_FILE_OPERATIONS: Final = ["create", "rename", "delete"]

PLAIN: Final[dict[str, Any]] = {
    "general": {"positionEncodings": ["utf-8", "utf-32", "utf-16"]},
    "textDocument": {
        "codeAction": {
            "codeActionLiteralSupport": {
                "codeActionKind": {"valueSet": ["", "quickfix", "refactor", "source"]}
            },
            "dataSupport": True,
            "disabledSupport": True,
            "isPreferredSupport": True,
            "resolveSupport": {"properties": ["edit", "command"]},
        },
        "completion": {"completionItem": {"snippetSupport": True, "insertReplaceSupport": True}},
        "hover": {"contentFormat": ["markdown"]},
        "inlayHint": {"dynamicRegistration": False},
        "publishDiagnostics": {"versionSupport": True},
    },
    "window": {"workDoneProgress": True},
    "workspace": {
        "applyEdit": True,
        "configuration": True,
        "didChangeConfiguration": {"dynamicRegistration": False},
        "didChangeWatchedFiles": {"dynamicRegistration": True, "relativePatternSupport": False},
        "executeCommand": {"dynamicRegistration": False},
        "inlayHint": {"refreshSupport": False},
        "workspaceEdit": {
            "documentChanges": True,
            "failureHandling": "abort",
            "normalizesLineEndings": False,
            "resourceOperations": _FILE_OPERATIONS,
        },
        "workspaceFolders": True,
    },
}
"""A client like Helix: applied edits with document versions and file operations, code
actions, hover, completion, diagnostics, work-done progress, configuration. No dialogs, no
``window/showDocument``, no code lenses, no semantic tokens, nothing of ``acp/*``.
"""

FULL: Final[dict[str, Any]] = {
    "general": {"positionEncodings": ["utf-16", "utf-8", "utf-32"]},
    "textDocument": {
        **PLAIN["textDocument"],
        "codeLens": {"dynamicRegistration": True},
        "documentLink": {"tooltipSupport": True},
        "documentSymbol": {"hierarchicalDocumentSymbolSupport": True},
        "foldingRange": {"lineFoldingOnly": False},
        "semanticTokens": {
            "requests": {"full": {"delta": True}, "range": True},
            "tokenTypes": ["keyword", "string", "comment"],
            "tokenModifiers": [],
            "formats": ["relative"],
        },
        "synchronization": {"didSave": True, "willSave": True, "willSaveWaitUntil": True},
    },
    "window": {
        "workDoneProgress": True,
        "showDocument": {"support": True},
        "showMessage": {"messageActionItem": {"additionalPropertiesSupport": True}},
    },
    "workspace": {
        **PLAIN["workspace"],
        "codeLens": {"refreshSupport": True},
        "diagnostics": {"refreshSupport": True},
        "fileOperations": {"didCreate": True, "didRename": True, "didDelete": True},
        "inlayHint": {"refreshSupport": True},
        "semanticTokens": {"refreshSupport": True},
        "workspaceEdit": {
            **PLAIN["workspace"]["workspaceEdit"],
            "changeAnnotationSupport": {"groupsOnLabel": True},
        },
    },
    "experimental": {
        "acp": {
            "version": 1,
            "sessions": True,
            "questions": True,
            "reviews": True,
            "places": True,
            "focus": True,
            "save": True,
        }
    },
}
"""A client that claims everything this project uses: ``PLAIN`` and code lenses, links,
symbols, folding, semantic tokens, all refreshes, ``window/showDocument``, dialogs, change
annotations, and ``experimental.acp`` with every flag but ``forms`` and ``terminals``, which
make other requests of questions.
"""
