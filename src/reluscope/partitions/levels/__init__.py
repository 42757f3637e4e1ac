"""Level sets and decision surfaces as meshes."""
