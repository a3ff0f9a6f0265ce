"""Who gets a page: crawl4ai behind its seams, over HTTP or in a browser."""
