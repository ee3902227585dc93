"""`nws plan`: how many articles a study needs, as tables, JSON and a figure."""
