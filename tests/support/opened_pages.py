"""Pages in a real Chromium, of which everything that they say or ask for is written down."""

from playwright.sync_api import Browser, Page

TOLD: list[str] = []
"""What the open page said to the console and asked of networks."""


def opened(browser: Browser, address: str, **options: object) -> Page:
    """The page, in a context of its own."""
    page = browser.new_context(**options).new_page()
    TOLD.clear()
    page.on("console", lambda message: TOLD.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: TOLD.append(f"error: {error}"))
    page.on("request", lambda request: TOLD.append(f"request: {request.url}"))
    page.goto(address)
    return page
