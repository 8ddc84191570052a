"""What runs on the driver: the query and its micro-batches, from the plan over the commit to the published files."""
