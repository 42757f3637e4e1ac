"""Serra, Tjandraatmadja and Ramalingam (2018): bounding and counting linear regions of deep neural networks."""
