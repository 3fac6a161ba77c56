"""Who may look: requests that a server of viser answers, and what it never does."""
