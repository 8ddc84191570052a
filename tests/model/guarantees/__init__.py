"""The promises of ``docs/guarantees.md``, and for each what has to be changed in the product to break it.

One module for each section of the page; :mod:`tests.model.guarantee_mutants` breaks them and looks at the tests.
"""
