"""An executable model of the commit protocol: the product's own classes, every order of their requests."""
