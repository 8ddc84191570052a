"""What Microsoft Fabric tells of a mirrored database: asked for, never changed."""
