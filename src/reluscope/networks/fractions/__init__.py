"""A network in rational arithmetic: values, maps, and weights carried back from the output."""
