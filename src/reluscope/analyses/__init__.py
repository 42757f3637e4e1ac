"""Questions asked of networks, codes and partitions: free functions that return findings."""
