"""What goes along with a training: its clock, who looks on, early stopping, weights."""
