"""The one knowledge store: notes, edges, topics, surfaces, profiles, sightings."""
