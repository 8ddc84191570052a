"""Landing one table's rows of one micro-batch: which of its events land, with which marker, in which columns and file.

Plain functions and values, without Spark: the tasks call them on the executors, tests and ``explain`` call them here.
"""
