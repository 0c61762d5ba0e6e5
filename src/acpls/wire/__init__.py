"""ACP on the wire: framing and the messages of both versions. Pure."""
