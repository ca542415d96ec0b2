"""`uniun-bots skill …`"""
