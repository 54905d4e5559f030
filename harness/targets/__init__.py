"""What is judged and how it is reached: shipped plugins, profiles, backings, TensorFlow's libraries."""
