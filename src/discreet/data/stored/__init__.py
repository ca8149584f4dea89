"""Rows that live elsewhere: in files, or with the workers of Dask."""
