"""Commands about one model or two, their codes and their regions at samples: options, and what is done with them."""
