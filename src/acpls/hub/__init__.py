"""The pure centre: ``Hub.handle(event, now) -> effects``."""

from acpls.hub.hub import Hub

__all__ = ["Hub"]
