"""What is wanted because permissions are judged by rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ReadPermissions:
    """Give back what is remembered of permissions, and find where these paths really are (``~``
    is the user's home); ``PermissionsRead`` with the same token follows, in a few seconds.
    """

    token: object
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class KeepPermission:
    """Remember a JSON value under a key, for this user's servers, or (``None``) forget it;
    ``PermissionKept`` with the same token follows.
    """

    token: object
    key: str
    value: Any
