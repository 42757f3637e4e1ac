"""Commands that prove or refute what outputs do on all inputs: options, and what is done with them."""
