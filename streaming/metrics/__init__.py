"""What the process tells Prometheus: the catalogue of its metrics, and where their values come from."""
