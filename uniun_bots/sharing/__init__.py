"""Skills and persona templates as signed events: publish, find, look at, install, follow. Text only, always."""
