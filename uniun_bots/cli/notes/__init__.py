"""`uniun-bots notes …`"""
