"""Training again and again with fresh noise, and what that shows with confidence."""
