// A person with nostr-tools: founds a group, asks and mentions, reads what comes back and checks it.
//
//   node person.mjs found RELAY            prints {secret, group}
//   node person.mjs converse RELAY         reads {secret, group, inGroup, mentioned} and prints [{asked, reply, thread}]
import { finalizeEvent, generateSecretKey, getEventHash, getPublicKey, verifyEvent } from 'nostr-tools/pure'
import { parse } from 'nostr-tools/nip10'
import { Relay, useWebSocketImplementation } from 'nostr-tools/relay'
import { bytesToHex, hexToBytes } from 'nostr-tools/utils'
import { readFileSync } from 'node:fs'
import WebSocket from 'ws'

const PATIENCE_MS = 40_000
useWebSocketImplementation(WebSocket)

const [, , task, url] = process.argv
const relay = await Relay.connect(url)
const answer = task === 'found' ? await found() : await converse(JSON.parse(readFileSync(0, 'utf8')))
console.log(JSON.stringify(answer))
relay.close()

async function found() {
  const secret = generateSecretKey()
  const about = JSON.stringify({ name: 'Harbour talk', about: 'tides and boats' })
  const group = await say(secret, 40, about, [])
  return { secret: bytesToHex(secret), group: group.id }
}

async function converse({ secret: hex, group, inGroup, mentioned }) {
  const secret = hexToBytes(hex)
  const root = ['e', group, url, 'root']
  const first = await ask(secret, inGroup, 42, 'When is high water?', [root])
  const second = await ask(secret, inGroup, 42, 'And tomorrow?', [
    root,
    ['e', first.reply.id, url, 'reply'],
    ['p', inGroup],
  ])
  const mention = await ask(secret, mentioned, 1, 'Is it calm out there?', [['p', mentioned]])
  const further = await ask(secret, mentioned, 1, 'Calm enough for a dinghy?', [
    ['e', mention.asked.id, url, 'root', getPublicKey(secret)],
    ['e', mention.reply.id, url, 'reply', mentioned],
    ['p', mentioned],
  ])
  return [first, second, mention, further]
}

async function say(secret, kind, content, tags) {
  const event = finalizeEvent({ kind, content, tags, created_at: Math.floor(Date.now() / 1000) }, secret)
  await relay.publish(event)
  return event
}

async function ask(secret, whom, kind, content, tags) {
  const asked = await say(secret, kind, content, tags)
  const reply = await heard({ kinds: [kind], authors: [whom], '#e': [asked.id] })
  return { asked, reply, thread: parse(reply) }
}

function heard(filter) {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`no answer to ${JSON.stringify(filter)}`)), PATIENCE_MS)
    const subscription = relay.subscribe([filter], {
      onevent(event) {
        clearTimeout(late)
        subscription.close()
        // A copy: nostr-tools remembers on the object itself that it was verified.
        const copy = JSON.parse(JSON.stringify(event))
        const good = verifyEvent(copy) && getEventHash(copy) === copy.id
        good ? resolve(copy) : reject(new Error(`not signed as it should be: ${JSON.stringify(copy)}`))
      },
    })
  })
}
