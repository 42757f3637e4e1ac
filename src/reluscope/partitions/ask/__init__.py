"""Which engine partitions a domain, forecasts of how many regions there are, and windows that can be finished."""
