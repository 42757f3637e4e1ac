"""What all pictures share: style, figures, marks, shapes, colours and files."""
