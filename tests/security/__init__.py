"""What keeps the project safe from outside: its dependencies, its names, and what it takes from strangers."""
