"""`uniun-bots model …`"""
