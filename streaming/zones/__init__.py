"""Reading a landing zone back for a person: its content, its faults, its ledger."""
