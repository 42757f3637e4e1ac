"""Behrmann et al. (2018): which inputs a ReLU layer confuses, and how stable its inverse is."""
