"""From each error, through its remedy, to the healthy state."""
