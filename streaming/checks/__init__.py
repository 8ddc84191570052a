"""Everything about a bridge that can be known before it runs, each thing with its verdict and its remedy."""
