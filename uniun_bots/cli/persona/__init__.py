"""`uniun-bots persona …`"""
