"""What is looked at: a network with its data, a plane or a box of its inputs, and a training."""
