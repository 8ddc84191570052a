"""What the process tells of itself over HTTP: probes, metrics, and a status page."""
