/** What the proxy reads of PostgreSQL's protocol: only what it needs, and only messages that arrive whole in one chunk. */

/** Whether the client sends a COMMIT as a simple query, as `pg` does with a text without parameters. */
export function isCommit(chunk: Buffer): boolean {
  return chunk[0] === 0x51 && chunk.toString('latin1', 5, 12).toLowerCase().startsWith('commit')
}

/** Whether the chunk ends with ReadyForQuery: the query is answered and, outside a transaction, committed. */
export function endsReply(chunk: Buffer): boolean {
  const end = chunk.length
  return end >= 6 && chunk[end - 6] === 0x5a && chunk.readUInt32BE(end - 5) === 5
}

const KEY_DATA = 0x4b
const READY = 0x5a
const ERROR = 0x45

/** The backend's process id from the server's first messages; undefined if they end without one. */
export function backendPid(greeting: Buffer): number | undefined | 'incomplete' {
  let at = 0
  // The answer to a request for TLS or GSS is a single byte.
  if (greeting[0] === 0x4e) at = 1
  while (at + 5 <= greeting.length) {
    const type = greeting[at]
    const length = greeting.readUInt32BE(at + 1)
    if (at + 1 + length > greeting.length) return 'incomplete'
    if (type === KEY_DATA) return greeting.readUInt32BE(at + 5)
    if (type === READY || type === ERROR) return undefined
    at += 1 + length
  }
  return 'incomplete'
}
