"""What the ledger and Kafka know, as values for programs and tables for people. Nothing here writes anything."""
