"""A differential fuzzer: random networks on random domains, every engine against the others and against rationals."""
