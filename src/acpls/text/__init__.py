"""Texts: lines, positions, differences, patches. Pure."""
