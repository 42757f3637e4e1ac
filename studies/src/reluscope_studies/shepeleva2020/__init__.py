"""Shepeleva, Zellinger, Lewandowski and Moser (2020): ReLU code space, a basis for rating network quality."""
