"""Commands that write reports and pages, or serve one: options, and what is done with them."""
