"""What Prometheus and Grafana are given: rules, alerts and a dashboard, made from the catalogue of metrics."""
