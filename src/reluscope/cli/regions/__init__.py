"""Commands about all regions of a domain, their number and level sets: options, and what is done with them."""
