"""What runs inside an executor's Python worker: reading and decoding records, and merging partitions."""
