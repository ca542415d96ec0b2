// An author with nostr-tools: checks events and references of others, and publishes a skill of their own.
//
//   node skill.mjs RELAY    reads {events, references, tags, text} and prints {checked, decoded, made, naddr, nevent}
import { finalizeEvent, generateSecretKey, getEventHash, verifyEvent } from 'nostr-tools/pure'
import { decode, naddrEncode, neventEncode } from 'nostr-tools/nip19'
import { Relay, useWebSocketImplementation } from 'nostr-tools/relay'
import { readFileSync } from 'node:fs'
import WebSocket from 'ws'

useWebSocketImplementation(WebSocket)

const [, , url] = process.argv
const { events, references, tags, text } = JSON.parse(readFileSync(0, 'utf8'))
const relay = await Relay.connect(url)
const checked = events.map(event => verifyEvent(event) && getEventHash(event) === event.id)
const decoded = references.map(reference => decode(reference))
const template = { kind: 33400, content: text, tags, created_at: Math.floor(Date.now() / 1000) }
const made = finalizeEvent(template, generateSecretKey())
await relay.publish(made)
const naddr = naddrEncode({ kind: made.kind, pubkey: made.pubkey, identifier: 'knots', relays: [] })
const nevent = neventEncode({ id: made.id, author: made.pubkey, kind: made.kind, relays: [] })
console.log(JSON.stringify({ checked, decoded, made: JSON.parse(JSON.stringify(made)), naddr, nevent }))
relay.close()
