"""The evaluation page of the documentation: what is measured for it, and how it is written."""
