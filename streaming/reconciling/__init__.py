"""Comparing the source database with the landing zone, row by row and by meaning, while both move."""
