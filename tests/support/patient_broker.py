"""Settings of brokers that no test kills."""

from __future__ import annotations

PATIENT = {"broker.session.timeout.ms": "120000"}
"""A machine that has too much to do may let a broker stand still for seconds: it need not lose its partitions for that.

A broker that is killed is waited for as long when it comes back.
"""
