"""Processes killed with SIGKILL at any moment and started again: nothing lost, nothing twice, no other byte."""
