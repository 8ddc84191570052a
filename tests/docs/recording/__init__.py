"""A terminal's recording as an SVG that moves: ``make docs-recording``.

:mod:`~tests.docs.recording.capture` runs a command in a pseudo terminal and keeps what it prints with the times,
:mod:`~tests.docs.recording.screen` is the terminal that shows it, and :mod:`~tests.docs.recording.animation` writes
what was on the screen, line by line, as one file with nothing but shapes, text and CSS.
"""
