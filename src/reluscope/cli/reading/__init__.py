"""Words of the command line: models, data, domains, numbers."""
