"""What a release promises: its packages run where no clone is, and it goes on with what earlier releases have left."""
