"""Judges a landing zone by the rules of its format, and by the ledger where there is one."""

from connectors.landing_zone.verify.findings import Finding, Rule, Severity
from connectors.landing_zone.verify.table_rules import VerifyProgress
from connectors.landing_zone.verify.zone_rules import verify_zone

__all__ = ["Finding", "Rule", "Severity", "VerifyProgress", "verify_zone"]
