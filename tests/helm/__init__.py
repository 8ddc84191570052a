"""The Helm chart: rendered by helm itself, read as plain values, judged without a cluster."""
