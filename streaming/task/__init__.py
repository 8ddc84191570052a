"""What runs inside an executor's Python worker: decoding the batches that Spark hands over, and merging partitions."""
