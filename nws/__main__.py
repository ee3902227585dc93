"""`python -m nws` is `nws`."""

from nws.jobs.cli import main

main()
