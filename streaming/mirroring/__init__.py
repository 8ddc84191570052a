"""What becomes of the published files in Fabric: looked at beside the job, never changed."""
