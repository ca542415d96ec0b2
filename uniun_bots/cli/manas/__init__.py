"""`uniun-bots manas …`"""
