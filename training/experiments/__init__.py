"""Experiments that compare the methods, from problems to tables: ``tiny`` on two cores, or the same on a GPU.

``plan`` says what is done, ``problems`` and ``slips`` make the data, ``runs`` trains and scores, ``report`` writes
tables and figures. Every part leaves a file when it is done, and what is there is not done again.
"""
