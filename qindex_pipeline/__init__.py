"""qindex_pipeline: a RAG index of questions, built by a batch pipeline on Dagster."""
