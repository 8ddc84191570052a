"""The transaction log that binds offsets, file numbers and content before any file becomes visible."""
