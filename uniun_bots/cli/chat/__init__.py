"""`uniun-bots chat`"""
