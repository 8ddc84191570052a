"""OpenLineage events of a run: which topics its tables come from. Sent beside the job, which never waits for them."""
