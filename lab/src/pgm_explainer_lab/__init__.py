"""The paper's data sets and models; these need PyTorch, which the package itself does not."""
