"""What a shared object says of itself, and the libraries of TensorFlow that it asks for."""
