"""What the tests with TensorFlow run in processes of their own; pytest's never imports TensorFlow."""
