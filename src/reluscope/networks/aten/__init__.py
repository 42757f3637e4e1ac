"""What every operator of a PyTorch graph means for the builder: one module per family, joined by one table."""
