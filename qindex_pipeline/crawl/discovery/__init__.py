"""What a site names by itself: sitemaps, llms.txt, markdown twins."""
