"""Zhang and Wu (2020): empirical studies on the properties of linear regions in deep neural networks."""
