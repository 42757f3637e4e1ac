"""What is known of a network at points and in their regions: values, codes, maps, and how sure they are."""
