"""The rim towards the editor."""
