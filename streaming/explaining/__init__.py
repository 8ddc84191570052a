"""What the bridge makes of single Kafka records: real records, the real decoder, the real lander, no consequences."""
