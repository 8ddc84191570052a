"""The whole configuration: one YAML file per source database, one model, unknown key = error."""

from streaming.settings.bridge import BridgeSettings
from streaming.settings.errors import Problem, SettingsError
from streaming.settings.fingerprint import fingerprint
from streaming.settings.load import load_settings, settings_of

__all__ = ["BridgeSettings", "Problem", "SettingsError", "fingerprint", "load_settings", "settings_of"]
