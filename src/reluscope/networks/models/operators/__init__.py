"""What operators mean, whichever front end reads them."""
