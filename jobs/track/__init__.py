"""Runs in trackers of experiments: TensorBoard, MLflow and Weights & Biases."""
