"""The paper's experiments: resumable jobs, and pages that report their results."""
