"""Decision boundaries: where two classes tie that are ahead of all others."""
