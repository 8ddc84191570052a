"""Dead letters as people see them: which there are, what one says, and having them land after all."""
