"""Reading and writing files safely: whole files, checked values, JSON and NumPy arrays."""
