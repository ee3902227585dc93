"""`python -m nws` is `nws`."""

from nws_start import main

main()
