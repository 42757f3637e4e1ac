"""The tests on machines that this one can play: other processors, threads, orders of tests, users and countries."""
