"""A script that was told nothing of plugins: loads a SavedModel and prints what it predicts for 1, 2 and 3.

`python serve.py FOLDER`: the URI of the model.
"""

import json
import sys

import tensorflow as tf

predict = tf.saved_model.load(sys.argv[1]).signatures["serving_default"]
answers = predict(x=tf.constant([1.0, 2.0, 3.0]))
print(json.dumps({name: value.numpy().tolist() for name, value in answers.items()}))
