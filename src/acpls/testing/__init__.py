"""Scripted stand-ins for agents and editors. Never imported by the server."""
